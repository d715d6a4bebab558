// Characters that are allowed in a source file.
#pragma once

#include "frontend/lnet/text/Problems.h"
#include "frontend/lnet/text/Source.h"

namespace lstmc::lnet {

/// Checks the whole file: UTF-8, no control characters but tab and line ends, no bidirectional
/// controls, no encoding declared but utf-8 (E0101). False if the bytes are not UTF-8; the file can
/// then not be read at all.
bool checkCharacters(const SourceFile &file, Problems &problems);

/// Whether a comment declares an encoding other than utf-8, which the first two lines of a file
/// must not do.
bool declaresEncoding(std::string_view line);

/// Whether the character at `at` is one of those that may.
bool mayStandInFile(std::string_view text, size_t at);

/// The bytes of the character at `at`, in text that is UTF-8.
Span characterAt(std::string_view text, size_t at);

} // namespace lstmc::lnet
