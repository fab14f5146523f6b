# A session of Python, in notebooks' ways: the value of the last expression is a result, so is what
# display() is given, and names live on.
import ast
import asyncio
import base64
import builtins
import inspect
import io
import linecache
import math
import pprint
import shlex
import subprocess
import traceback
import types

FORMATS = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown",
           "image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpeg",
           "application/pdf": "pdf", "text/latex": "latex", "application/json": "json",
           "application/javascript": "javascript"}
METHODS = {"_repr_html_": "html", "_repr_markdown_": "markdown", "_repr_svg_": "svg",
           "_repr_png_": "png", "_repr_jpeg_": "jpeg", "_repr_pdf_": "pdf",
           "_repr_latex_": "latex", "_repr_json_": "json", "_repr_javascript_": "javascript"}
BACKEND = "sandgate_figures"


def plain(value):
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return pprint.pformat(value, sort_dicts=False)
    text = repr(value)
    # As clients of notebooks know texts.
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def as_json(value):
    """What JSON can say of it."""
    if isinstance(value, dict):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()  # a number of numpy's
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def told(name, value):
    """A representation as clients read it: bytes as base64, JSON as an object."""
    if isinstance(value, tuple):  # with metadata
        value = value[0]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if name == "json":
        return as_json(value) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def bundle_of(value):
    shown = {"text": plain(value)}
    if isinstance(value, type):
        return shown
    for method, name in METHODS.items():
        make = getattr(value, method, None)
        given = told(name, make()) if callable(make) else None
        if given is not None:
            shown[name] = given
    make = getattr(value, "_repr_mimebundle_", None)
    given = make(include=None, exclude=None) if callable(make) else {}
    for kind, one in (given[0] if isinstance(given, tuple) else given or {}).items():
        name = FORMATS.get(kind)
        if name and told(name, one) is not None:
            shown[name] = told(name, one)
        elif not name:
            shown.setdefault("extra", {})[kind] = as_json(one)
    if type(value).__module__.startswith("pandas.") and hasattr(value, "to_dict"):
        if hasattr(value, "columns"):
            shown["data"] = as_json(value.to_dict("list"))
    return shown


class Magic:
    """What notebooks' lines that begin with ! or % ask for."""

    def __init__(self, session):
        self.session = session

    def system(self, line):
        subprocess.call(["/bin/sh", "-c", line], stdin=subprocess.DEVNULL)

    def run_line_magic(self, name, line):
        if name == "pip":
            subprocess.call([sys.executable, "-m", "pip", *shlex.split(line)])
        elif name == "cd":
            os.chdir(os.path.expanduser(line.strip() or "~"))
        elif name in ("env", "set_env"):
            key, _, value = line.partition("=")
            os.environ[key.strip()] = value.strip()
        elif name != "matplotlib":
            raise NameError(f"there is no magic %{name} here")

    def run_cell_magic(self, name, line, cell):
        if name in ("bash", "sh"):
            subprocess.run([name], input=cell.encode(), check=True)
        elif name == "writefile":
            with open(os.path.expanduser(line.strip()), "w") as file:
                file.write(cell)
        else:
            raise NameError(f"there is no magic %%{name} here")

    def translated(self, code):
        """The code with a call in place of each such line."""
        if code.lstrip().startswith("%%"):
            head, _, cell = code.lstrip().partition("\n")
            name, _, line = head[2:].partition(" ")
            return f"get_ipython().run_cell_magic({name!r}, {line!r}, {cell!r})"
        return "\n".join(map(self.line, code.split("\n")))

    @staticmethod
    def line(text):
        rest = text.lstrip()
        indent = text[:len(text) - len(rest)]
        if rest.startswith("!"):
            return f"{indent}get_ipython().system({rest[1:]!r})"
        if rest.startswith("%"):
            name, _, line = rest[1:].partition(" ")
            return f"{indent}get_ipython().run_line_magic({name!r}, {line!r})"
        return text


class PythonSession(Session):
    def __init__(self):
        super().__init__()
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            raw = io.FileIO(descriptor, "w", closefd=False)
            stream = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace",
                                      line_buffering=True)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        self.loop, self.running, self.magic = None, False, Magic(self)
        # Programs find what they define in their module, as pickle does.
        self.main = types.ModuleType("__main__")
        self.main.__dict__.update(__builtins__=builtins, display=self.display,
                                  get_ipython=lambda: self.magic)
        sys.modules["__main__"] = self.main
        sys.argv = [""]
        sys.path.insert(0, "")
        self.offer_figures()
        signal.signal(signal.SIGINT, self.on_signal)

    def on_signal(self, *_):
        if self.running:
            raise KeyboardInterrupt

    def interrupt(self, again):
        # Code may wait for a program, deaf to signals. But programs of earlier calls live on where
        # the code heeds the first one.
        if again:
            os.killpg(0, signal.SIGINT)
        else:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def flush(self, last=False):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # the program closed or replaced it
        super().flush(last)

    def show(self, value, is_main):
        shown = bundle_of(value)
        self.flush()
        self.emit({"type": "result", "is_main_result": is_main, **shown})

    def display(self, *values, **_):
        for value in values:
            self.show(value, False)

    def offer_figures(self):
        """matplotlib's backend: figures are results."""
        def attribute(name):
            if name == "FigureCanvas":
                from matplotlib.backends.backend_agg import FigureCanvasAgg
                return FigureCanvasAgg
            raise AttributeError(name)
        backend = types.ModuleType(BACKEND)
        backend.__getattr__ = attribute
        backend.show = lambda *_, **__: self.show_figures()
        sys.modules[BACKEND] = backend
        os.environ.setdefault("MPLBACKEND", f"module://{BACKEND}")

    def show_figures(self):
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else []:
            picture = io.BytesIO()
            figure = pyplot.figure(number)
            figure.savefig(picture, format="png", bbox_inches="tight")
            pyplot.close(number)
            self.flush()
            self.emit({"type": "result", "is_main_result": False, "text": repr(figure),
                       "png": base64.b64encode(picture.getvalue()).decode()})

    def parsed(self, code, name):
        try:
            return ast.parse(code, name)
        except SyntaxError:
            translated = self.magic.translated(code)
            if translated == code:
                raise
            return ast.parse(translated, name)

    def value_of(self, tree, name, mode):
        code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, self.main.__dict__)
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        self.loop = self.loop or asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(value)

    def run(self, code):
        name = f"<cell {self.count}>"
        linecache.cache[name] = len(code), None, code.splitlines(True), name
        tree = self.parsed(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self.value_of(tree, name, "exec")
        if last is None:
            return
        value = self.value_of(ast.Expression(last.value), name, "eval")
        if value is not None:
            self.main.__dict__["_"] = value
            self.show(value, True)

    def execute(self, request):
        before = dict(os.environ)
        given = request.get("env_vars") or {}
        try:
            os.environ.update(given)
            self.running = True
            self.run(request["code"])
            self.show_figures()
            self.running = False
        except BaseException as problem:
            self.running = False
            self.report(problem)
        for name in given:
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]

    def report(self, problem):
        # The first frames are those of this file.
        frames = problem.__traceback__
        while frames is not None and not frames.tb_frame.f_code.co_filename.startswith("<cell "):
            frames = frames.tb_next
        try:
            text = "".join(traceback.format_exception(type(problem), problem, frames))
            self.error(type(problem).__name__, str(problem), text)
        except Exception as another:  # of its own __str__
            self.error(type(problem).__name__, "", repr(type(another)))


if __name__ == "__main__":
    listener = int(sys.argv[1])
    PythonSession().serve(listener)
