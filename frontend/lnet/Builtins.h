// The names that are known without being defined, ops aside.
#pragma once

#include <string_view>
#include <vector>

namespace lstmc::lnet {

struct BuiltinRecord;

const BuiltinRecord *findBuiltin(std::string_view name);
/// Those that users may call, the layers among them.
std::vector<std::string_view> builtinNames();
/// LSTM, GRU, RNNLayer: functions of layers.lnet.
bool isLayer(std::string_view name);
/// Ops of MXNet that real files use (mxnet.md §3) and this version lacks; refused by name.
bool isUnbuiltOp(std::string_view name);

} // namespace lstmc::lnet
