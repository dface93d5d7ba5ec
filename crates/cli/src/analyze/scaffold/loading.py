

class Marks(ast.NodeTransformer):
    """Puts a note before the line that opens the window, and after those that come into it and close it. And what a constructor
    cannot do with stand-ins it leaves out."""

    def __init__(self, tree):
        """The same statement elsewhere in the function comes in as well."""
        self.intruders, self.adds = set(), False
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        for function in ast.walk(tree):
            if isinstance(function, functions) and function.lineno <= INTRUDES <= function.end_lineno:
                for it in ast.walk(function):
                    if isinstance(it, (ast.Assign, ast.AugAssign, ast.Delete)) and it.lineno == INTRUDES:
                        self.intruders.add(ast.dump(it))
                        self.adds |= isinstance(it, ast.Assign) and isinstance(it.targets[0], ast.Subscript)

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if is_unwritten(node):
            node.body = placed("return __drawloom_anything__()", node)
        elif node.name == "__init__" and node.args.args:
            node.body = [self.tolerant(statement, node.args.args[0].arg) for statement in node.body]
        return node

    def visit_AsyncFunctionDef(self, node):
        self.generic_visit(node)
        if is_unwritten(node):
            node.body = placed("await __drawloom_anything__()\nreturn __drawloom_anything__()", node)
        return node

    def tolerant(self, statement, own):
        """The statement; and if it fails, stand-ins for the attributes that it should have set."""
        if isinstance(statement, (ast.Global, ast.Nonlocal, ast.Pass)):
            return statement
        stored = [it.attr for it in ast.walk(statement) if isinstance(it, ast.Attribute) and isinstance(it.ctx, ast.Store)]
        text = f"try:\n    pass\nexcept Exception:\n    __drawloom_missing__({own}, {stored!r})"
        wrapped = ast.parse(text).body[0]
        wrapped.body = [statement]
        for part in [wrapped, *(it for handler in wrapped.handlers for it in ast.walk(handler))]:
            ast.copy_location(part, statement)
        return ast.fix_missing_locations(wrapped)

    def generic_visit(self, node):
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, self.marked(block))
        return node

    def marked(self, block):
        out = []
        for statement in block:
            last = statement.body[0].lineno - 1 if getattr(statement, "body", None) and isinstance(statement.body, list) else statement.end_lineno
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                out.append(statement)
                continue
            covers = lambda line: statement.lineno <= line <= max(last, statement.lineno)
            if covers(OPENS):
                out.append(self.note("opens", statement))
            leaves = isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break))
            after = ["intrudes"] if covers(INTRUDES) or ast.dump(statement) in self.intruders else []
            after += ["closes"] if covers(CLOSES) else []
            if leaves:
                out.extend(self.note(word, statement) for word in after)
                out.append(statement)
            elif isinstance(statement, (ast.With, ast.AsyncWith, ast.If, ast.For, ast.AsyncFor, ast.While)):
                statement.body[:0] = [self.note(word, statement) for word in after]
                out.append(statement)
            else:
                out.append(statement)
                out.extend(self.note(word, statement) for word in after)
        return out

    def note(self, word, statement):
        call = ast.parse(f"__drawloom_note__({word!r})").body[0]
        return ast.fix_missing_locations(ast.copy_location(call, statement))


def placed(text, node):
    """Statements at the place of a function: `return` and `await` are parsed within one."""
    function = ast.parse("async def f():\n" + "".join(f"    {line}\n" for line in text.splitlines())).body[0]
    for statement in function.body:
        for it in ast.walk(statement):
            ast.copy_location(it, node)
    return function.body


def is_unwritten(node):
    """Whether a method only says that others have to write it."""
    said = [it for it in node.body if not (isinstance(it, ast.Expr) and isinstance(it.value, ast.Constant))]
    return len(said) == 1 and isinstance(said[0], ast.Raise) and "NotImplementedError" in ast.dump(said[0])


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are not installed are stand-ins, too: what a window needs of them is rarely more than that they are there."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        class Module(types.ModuleType):
            def __getattr__(self, name):
                if name.startswith("__") and name.endswith("__"):
                    raise AttributeError(name)
                return Anything()

        return Module(spec.name)

    def exec_module(self, module):
        pass


class Broken(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of the package itself that cannot be loaded here are stand-ins from where they fail."""

    def __init__(self, package):
        self.root = package.partition(".")[0]
        self.real = {}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != self.root:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        self.real[name], spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self.real[spec.name].create_module(spec)

    def exec_module(self, module):
        try:
            self.real[module.__name__].exec_module(module)
        except Exception:
            module.__getattr__ = lambda name: Anything()


def package():
    """The package that the file is in, which then can be imported."""
    folder, parts = os.path.dirname(os.path.abspath(FILE)), []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if parts and folder not in sys.path:
        sys.path.insert(0, folder)
    if parts and parts[0] not in sys.stdlib_module_names:
        sys.meta_path.insert(0, Broken(parts[0]))
    sys.meta_path.append(Missing())
    return ".".join(parts)


PACKAGE = package()
# What later versions of Python have taken away.
asyncio.coroutine = getattr(asyncio, "coroutine", types.coroutine)
asyncio.coroutines.coroutine = asyncio.coroutine


def parts():
    """The statements at the top of the file, each compiled by itself, with the names that it gives a value."""
    with open(FILE, encoding="utf-8") as file:
        tree = ast.parse(file.read(), FILE)
    marks = Marks(tree)
    tree = marks.visit(tree)
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    kept = [node for node in tree.body if node not in future and not starts_program(node)]
    module = lambda node: ast.fix_missing_locations(ast.Module([*future, node], []))
    return [(compile(module(node), FILE, "exec"), names_of(node), of_package(node)) for node in kept], marks.adds


def of_package(node):
    """Whether a statement imports something of the package that the file is in."""
    root = PACKAGE.partition(".")[0]
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or bool(root) and (node.module or "").partition(".")[0] == root
    return isinstance(node, ast.Import) and bool(root) and any(it.name.partition(".")[0] == root for it in node.names)


def load(state):
    """The file as a module. What cannot be run at its top, for want of what is not installed here, is left out."""
    module = types.ModuleType("drawloom_target")
    module.__file__ = FILE
    module.__package__ = PACKAGE
    sys.modules["drawloom_target"] = module
    if PACKAGE:
        importlib.import_module(PACKAGE)
    module.__dict__["__drawloom_note__"] = state.note
    module.__dict__["__drawloom_missing__"] = missing
    module.__dict__["__drawloom_anything__"] = Anything
    for code, names, own in PARTS:
        try:
            if own and SCENARIO is not None and SCENARIO.alone:
                raise ImportError("only this file of the package is unchanged")
            exec(code, module.__dict__)
        except Exception:
            for name in names:
                module.__dict__.setdefault(name, raised(name) if is_raised(name) else Anything())
    return module


def is_raised(name):
    return name.endswith(("Error", "Exception", "Warning", "Cancelled", "Closed", "Timeout")) or name == "WouldBlock"


def raised(name):
    return type(name, (Exception,), {})


def missing(own, names):
    for name in names:
        try:
            if not hasattr(own, name):
                setattr(own, name, Anything())
        except Exception:
            pass


def names_of(node):
    """The names that a statement at the top gives a value."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    return [it.id for it in ast.walk(node) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)]


def starts_program(node):
    """Whether a statement at the top runs the whole program, which is not what is tried."""
    if isinstance(node, (ast.For, ast.While, ast.With)):
        return True
    if isinstance(node, ast.If):
        return "__main__" in ast.dump(node.test)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


# Whether Task B adds something under a key: then it must be a new one.
PARTS, ADDS = parts()
