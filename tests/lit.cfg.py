# One configuration for all folders of .mlir tests. `lstmc opt` in a RUN line is the tool that ctest
# passes.
import os

import lit.formats

config.name = "lstmc"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["exec_root"]
config.substitutions.append((r"\blstmc opt\b", lit_config.params["opt"]))
config.substitutions.append((r"\bFileCheck\b", lit_config.params["filecheck"]))
