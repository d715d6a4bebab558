"""cases.py CASES NET LSTMC RUNTIME COMPILER INCLUDE...: programs as users of C++ wrote them first
compile without warnings and end with 0, as they stand; char_lm ends with the weights of the
command, also when it is started again. CASES is the folder of the programs, NET the network to
inspect, and INCLUDE are the folders of headers. Skipped where CASES is not there. One compiles and
is not run: imports.cpp writes ONNX, and gives no shapes to a file that leaves them open; the test
compile.imports is what it asks for besides."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

cases, net, lstmc, *libraries = sys.argv[1:6]
cases = pathlib.Path(cases)
if not cases.is_dir():
    print(f"{cases} is not here")
    sys.exit(77)
includes = [f"-I{folder}" for folder in sys.argv[6:]]
links = [word for library in libraries
         for word in (library, f"-Wl,-rpath,{pathlib.Path(library).parent}")]
warnings = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
compilers = [name for name in ("g++", "clang++-19") if shutil.which(name)]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    text = folder / "text.txt"
    text.write_text("".join(path.read_text() for path in sorted(cases.parent.glob("**/*.cpp"))) * 9)
    train = [lstmc, "train", str(cases / "char_lm.lnet"), "--data", f"text:{text},valid=0.1",
             "--after", "300u", "--valid-every", "50u", "--early-stop", "3", "--seed", "1",
             "-o", str(folder / "command")]
    wanted = re.search(r"weights ([0-9a-f]{16})", run(*train))[1]
    for compiler in compilers:
        made = folder / compiler
        made.mkdir()
        for source in sorted(cases.glob("*.cpp")):
            flags = ["-fno-exceptions", "-fno-rtti"] if source.stem == "serve" else []
            linked = links[:2] if source.stem == "serve" else links
            run(compiler, "-std=c++20", *warnings, *flags, *includes, str(source),
                "-o", str(made / source.stem), "-pthread", *linked)

        def program(name, *words):
            done = subprocess.run([made / name, *words], cwd=made, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{compiler}, {name}: {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        for name, words in {"classify": [], "own_loop": [], "forecast": [], "inspect": [net],
                            "from_text": [cases / "classifier.lnet"]}.items():
            print(name, program(name, *words).splitlines()[0])
        for again in "first", "again":
            found = re.search(r"(?m)^([0-9a-f]{6,16}) ", program("char_lm", text))
            if not found or found[1].zfill(16) != wanted:
                sys.exit(f"char_lm, {again}: {found and found[1]}, the command has {wanted}")
        print("char_lm", wanted)
        program("serve", made / "ck")
