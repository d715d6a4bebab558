// A thread with a stack that is deep enough for any tree within the limits, and how much of it is
// left.
#pragma once

#include <functional>

namespace lstmc::lnet {

/// Runs `work` to its end on a stack of 256 MiB (only what is used is ever touched). A nested call
/// runs on the stack that it finds, and so does `work` if the thread cannot be created.
void runOnDeepStack(const std::function<void()> &work);

/// Whether less than 1 MiB of the stack is left. False outside of runOnDeepStack.
bool stackIsShort();

} // namespace lstmc::lnet
