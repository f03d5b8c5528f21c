"""How numba compiles here: helpers are typed and lowered only, LLVM sees them once, in the kernel that calls them.

numba optimises each function together with all that it calls and makes machine code of it, and does so again for each
caller up to the kernel. Nobody calls a helper but compiled code, so that work is lost: it was two thirds of a game's
cold compile.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba.core import types
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    NativeLowering,
    NoPythonSupportedFeatureValidation,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

from kepler_envs.engine.code_cache import check_source


class _Library(JITCodeLibrary):
    def _optimize_functions(self, ll_module: Any) -> None:
        """numba's passes over each function, without making them anew for each and for what is only declared."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class HelperLibrary(_Library):
    """The code of one helper as it was lowered, and the libraries of what it calls: never optimised as a whole, never
    run."""

    def finalize(self) -> None:
        self._finalized = True

    @property
    def own_module(self) -> Any:
        """The code of this helper alone."""
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """With all that it calls, for libraries of numba's own kind: loops that threads share are in one."""
        if self._shared_module is None:
            whole = self._final_module.clone()
            for library in _below(self):
                whole.link_in(_module_of(library), preserve=True)
            for function in whole.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"  # others may bring it, too
            self._shared_module = whole
        return self._shared_module


class KernelLibrary(_Library):
    """The code of one kernel with everything that it calls, each helper once."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in _below(self):
            self._final_module.link_in(_module_of(library), preserve=True)
            if isinstance(library, HelperLibrary):
                for function in library.get_defined_functions():
                    # LLVM may change how it is called. The linker of compiled code takes any symbol by its name, a
                    # local one as well, for the one that a parallel kernel brings along: this has none.
                    self._final_module.get_function(function.name).linkage = "private"
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()


def _module_of(library: CodeLibrary) -> Any:
    if isinstance(library, HelperLibrary):
        return library.own_module
    return library._get_module_for_linking()  # type: ignore[attr-defined]


def _below(library: CodeLibrary) -> Iterator[CodeLibrary]:
    """The libraries that ``library`` links, directly or through helpers, callers first."""
    order: list[CodeLibrary] = []
    seen: set[CodeLibrary] = set()

    def visit(one: CodeLibrary) -> None:
        for below in one._linking_libraries:  # type: ignore[attr-defined]
            if below not in seen:
                seen.add(below)
                if isinstance(below, HelperLibrary):
                    visit(below)
                order.append(below)

    visit(library)
    return reversed(order)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """numba's lowering into a :class:`KernelLibrary`."""

    _name = "kepler_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class Uncalled:
    """Stands for a helper among numba's compiled functions: a key, nothing to call."""


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):
    """Lowering without a wrapper for Python and without machine code."""

    _name = "kepler_helper_lowering"

    def run_pass(self, state: Any) -> bool:
        flags, target = state.flags, state.targetctx
        library = state.library = HelperLibrary(target.codegen(), state.func_id.func_qualname)
        described = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir, state.typemap, state.return_type, state.calltypes, mangler=target.mangler,
            inline=flags.forceinline, noalias=flags.noalias, abi_tags=[flags.get_mangle_string()],
        )  # fmt: skip
        with target.push_code_library(library):
            lower = Lower(target, library, described, state.func_ir, metadata=state.metadata)
            lower.lower()
        library.finalize()
        key = Uncalled()
        target.insert_user_function(key, described, [library])
        state["cr"] = _LowerResult(described, lower.call_helper, cfunc=key, env=lower.env)
        return True


@contextmanager
def without_collector() -> Iterator[None]:
    """Compile without Python's search for cycles, which goes through numba's many objects in vain (an eighth of the
    time)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


UNNEEDED_PASSES = (
    WithLifting, InlineClosureLikes, RewriteDynamicRaises, MakeFunctionToJitFunction, InlineInlinables,
    FindLiterallyCalls, LiteralUnroll,
    LiteralPropagationSubPipelinePass, InlineOverloads, NoPythonSupportedFeatureValidation, AnnotateTypes,
    DumpParforDiagnostics,
)  # fmt: skip
"""What numba does for features of Python that no helper and no kernel here has: closures, ``with``, comprehensions,
loops over types."""


def _passes(state: Any, name: str, lowering: type[NativeLowering]) -> list[PassManager]:
    """numba's passes without those, and without pruning dead branches a second and a third time."""
    manager, chosen = PassManager(name), []
    for one, text in DefaultPassBuilder.define_nopython_pipeline(state).passes:
        if one in UNNEEDED_PASSES or (one is DeadBranchPrune and one in chosen):
            continue
        chosen.append(lowering if one is NativeLowering else one)
        manager.add_pass(chosen[-1], text)
    manager.finalize()
    return [manager]


class KernelCompiler(CompilerBase):
    """What compiles kernels."""

    def define_pipelines(self) -> list[PassManager]:
        return _passes(self.state, "kernel", KernelLowering)


class HelperCompiler(CompilerBase):
    """What compiles helpers."""

    def define_pipelines(self) -> list[PassManager]:
        return _passes(self.state, "helper", HelperLowering)


def _widened(kind: Any) -> Any:
    """The type of an argument as helpers get it: int64 for constants and for signed integers of any width.

    numba would compile a helper anew for each constant and for each width that it is called with, 82 of 211
    compilations in the largest case. Nothing changes by it: arithmetic is of int64 all the same, and constants are
    found by LLVM.
    """
    if isinstance(kind, types.IntegerLiteral | types.BooleanLiteral):
        return types.unliteral(kind)
    if isinstance(kind, types.Integer) and kind.signed:  # type: ignore[attr-defined]
        return types.int64
    return kind


class HelperDispatcher(CPUDispatcher):
    """A function that compiled code calls. Python, that is a test, calls another compilation of the same source."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=HelperCompiler)
        self._for_python = CPUDispatcher(function, targetoptions=options, pipeline_class=KernelCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(
            tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()}
        )

    def compile(self, sig: Any) -> Any:
        known = self.overloads.get(sig)  # asked at each call in each caller: numba's own way to the answer is long
        return super().compile(sig) if known is None else known.entry_point  # type: ignore[attr-defined]

    def add_overload(self, cres: Any) -> None:
        check_source(self.py_func)
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        return self._for_python._compile_for_args(*arguments, **named)  # type: ignore[attr-defined]
