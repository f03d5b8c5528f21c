"""The window behind ``render_mode="human"``. There is one per title, and showing a picture does not block."""

from __future__ import annotations

import sys

import numpy as np

_windows: dict[str, _Window] = {}
_unavailable = False  # no window can be opened here: said once, not tried again


class _Window:
    """One tkinter window. Raises ImportError without tkinter, tkinter.TclError without a display."""

    def __init__(self, title: str) -> None:
        import tkinter

        self._closed_by_person = False
        self._root = tkinter.Tk()
        self._root.title(title)
        self._root.resizable(False, False)
        self._root.protocol("WM_DELETE_WINDOW", self._closed)
        self._image = tkinter.PhotoImage(master=self._root, format="PPM")
        tkinter.Label(self._root, image=self._image, borderwidth=0).pack()

    def update(self, rgb: np.ndarray) -> None:
        if self._closed_by_person:
            return
        height, width, _ = rgb.shape
        self._image.configure(data=b"P6 %d %d 255\n" % (width, height) + rgb.tobytes())
        self._root.update()

    def close(self) -> None:
        if not self._closed_by_person:
            self._root.destroy()

    def _closed(self) -> None:
        """A person closed the window. It stays closed, and the program continues."""
        self._closed_by_person = True
        self._root.destroy()


def show(rgb: np.ndarray, title: str) -> bool:
    """Show a picture in the window of that title and return at once. The first call opens the window.

    A window that a person closed stays closed until :func:`close`.

    Args:
        rgb: uint8 (height, width, 3).
        title: the caption of the window, and its name.

    Returns:
        False where no window can be opened: there is no display, or Python lacks tkinter. stderr says so once. The
        caller can then print the text of the position instead.

    Raises:
        ValueError: ``rgb`` has another type or shape.
    """
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3:
        raise ValueError(f"a picture must be uint8 (height, width, 3), not {rgb.dtype} {rgb.shape}")
    if title not in _windows and not _open(title):
        return False
    _windows[title].update(rgb)
    return True


def close(title: str | None = None) -> None:
    """Close the window of that title if there is one. Without a title, close all of them."""
    for name in [title] if title is not None else list(_windows):
        window = _windows.pop(name, None)
        if window is not None:
            window.close()


def _open(title: str) -> bool:
    if _unavailable:
        return False
    try:
        import tkinter
    except ImportError as problem:
        return _give_up(problem)
    try:
        _windows[title] = _Window(title)
    except tkinter.TclError as problem:
        return _give_up(problem)
    return True


def _give_up(problem: Exception) -> bool:
    global _unavailable
    _unavailable = True
    print(f"kepler_envs: no window can be opened ({problem}); showing text instead", file=sys.stderr)
    return False
