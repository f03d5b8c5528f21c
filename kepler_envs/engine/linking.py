"""Functions that are compiled once and called by the compiled code of many kernels.

A kernel that calls a helper holds a copy of it, which LLVM optimises again. What is large is therefore *shared*: a
kernel of its own, which others call through a symbol. The call takes a nanosecond or two. Arguments are records and
numbers; an array is handed over by its address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from kepler_envs.engine.kernel import JIT_ENABLED, Scope, kernel

NOWHERE = 0
"""The address that means none."""


class Shared:
    """A compiled function that other kernels call.

    Attributes:
        kernel: what Python calls.
        call: what compiled code calls, with the same arguments. A kernel whose code has it can be loaded only after
            this object was made.
        address: of the function, for what :func:`caller_at` makes.
    """

    def __init__(self, compiled: Any, symbol: str) -> None:
        self.kernel = compiled
        if not JIT_ENABLED:
            self.call = self.address = compiled
            return
        (result,) = compiled.overloads.values()
        self.address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(symbol, self.address)
        self.call = _call_of(result.signature, symbol)


def shared(scope: Scope, name: str, signature: Sequence[Any]) -> Callable[[Callable[..., Any]], Shared]:
    """Compile a function like :func:`kepler_envs.engine.kernel.kernel`, for other kernels to call."""

    def decorate(function: Callable[..., Any]) -> Shared:
        return Shared(kernel(scope, name, signature)(function), f"kepler_envs.{scope.name}.{scope.digest}.{name}")

    return decorate


def _call_of(found: Any, symbol: str) -> Any:
    @intrinsic
    def call(typingctx, *arguments):
        def codegen(context, builder, signature, values):
            kind = context.call_conv.get_function_type(found.return_type, found.args)
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            return _emit_call(context, builder, function, found, cgutils.unpack_tuple(builder, values[0]))

        return found.return_type(types.StarArgTuple(found.args)), codegen

    return call


def caller_at(*arguments: Any) -> Any:
    """What compiled code calls a shared function with that returns nothing and of which it is told only when it runs.

    Its arguments are the function's address, then those of the function, whose types are given here.
    """
    if not JIT_ENABLED:
        return lambda function, *values: function(*values)

    @intrinsic
    def call_at(typingctx, place, *given):
        found = types.none(*arguments)

        def codegen(context, builder, signature, values):
            kind = context.call_conv.get_function_type(found.return_type, found.args)
            function = builder.inttoptr(values[0], kind.as_pointer())
            return _emit_call(context, builder, function, found, cgutils.unpack_tuple(builder, values[1]))

        return found.return_type(types.int64, types.StarArgTuple(found.args)), codegen

    return call_at


def _emit_call(context: Any, builder: Any, function: Any, found: Any, values: Sequence[Any]) -> Any:
    """The call; an error inside (an index out of bounds, in a build that checks them) is passed on."""
    status, result = context.call_conv.call_function(builder, function, found.return_type, found.args, values)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


# ---------------------------------------------------------------- arrays and records, by their address


def item_of(dtype: np.dtype | type) -> Any:
    """The signature type of an argument that is one number or one record."""
    return numba.from_dtype(np.dtype(dtype))


if not JIT_ENABLED:

    def address(array: Any) -> Any:
        return array

    def copy_record(to: Any, source: Any) -> None:
        for name in source.dtype.names:
            to[name] = source[name]

    def viewer(dtype: Any) -> Any:
        return lambda place, size: place

else:

    @intrinsic
    def address(typingctx, array):
        """The address at which an array's items begin."""

        def codegen(context, builder, signature, values):
            data = context.make_array(signature.args[0])(context, builder, values[0]).data
            return builder.ptrtoint(data, context.get_value_type(types.int64))

        return types.int64(array), codegen

    @intrinsic
    def copy_record(typingctx, to, source):
        """Copy all bytes of a record into another one of its type."""

        def codegen(context, builder, signature, values):
            size = context.get_constant(types.intp, source.size)
            cgutils.raw_memcpy(builder, values[0], values[1], size, 1)
            return context.get_dummy_value()

        if to.dtype == source.dtype:
            return types.void(to, source), codegen
        return None

    def viewer(dtype: Any) -> Any:
        """A compiled function of an address and a size: the array of ``dtype`` there, which somebody else owns."""
        item = numba.from_dtype(np.dtype(dtype))

        @intrinsic
        def view(typingctx, place, size):
            kind = types.Array(item, 1, "C")

            def codegen(context, builder, signature, values):
                array = context.make_array(kind)(context, builder)
                width = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(item)))
                arrayobj.populate_array(
                    array, data=builder.inttoptr(values[0], array.data.type), shape=[values[1]], strides=[width],
                    itemsize=width, meminfo=None,
                )  # fmt: skip
                return array._getvalue()

            return kind(types.int64, types.int64), codegen

        return view
