"""typeid.py SOURCE MAP LIBRARY LIBRARIES INCLUDE...: a library that is built as
liblstmc-compiler.so is, with its version script, finds the traits of MLIR's own ops, whichever
compiler builds it; and LIBRARY, which is that library, exports the addresses by which it does.
LIBRARIES has MLIR's libraries, and INCLUDE are its headers."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, version_map, library, folder_of_mlir, *includes = sys.argv[1:]
links = [f"-L{folder_of_mlir}", "-lMLIR", "-lLLVM", f"-Wl,-rpath,{folder_of_mlir}"]
symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
if "_ZZN4mlir6detail14TypeIDResolver" not in symbols:
    sys.exit(f"{library} has type ids of its own")
compilers = [name for name in ("g++", "clang++-19") if shutil.which(name)]
ASK = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).lstmc_compiler_knows_traits())"
with tempfile.TemporaryDirectory() as folder:
    hidden = pathlib.Path(folder, "hidden.map")
    hidden.write_text("{ global: lstmc_compiler_*; local: *; };\n")
    for compiler in compilers:
        made = pathlib.Path(folder, f"{compiler}.o")
        subprocess.run([compiler, "-std=c++20", "-O1", "-fPIC", "-fno-rtti", "-c", source, "-o",
                        made, *(word for path in includes for word in ("-isystem", path))],
                       check=True)
        told = []
        for script in version_map, hidden:
            linked = pathlib.Path(folder, f"{compiler}-{len(told)}.so")
            subprocess.run([compiler, "-shared", made, "-o", linked,
                            f"-Wl,--version-script={script}", *links], check=True)
            told.append(subprocess.run([sys.executable, "-c", ASK, linked]).returncode)
        print(f"{compiler}: with our map {told[0]}, where all is hidden {told[1]}")
        if told[0] != 1:
            sys.exit(f"{compiler}: a library with {version_map} does not know MLIR's traits")
