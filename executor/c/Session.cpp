#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "backends/registry/Devices.h"
#include "executor/base/Numeric.h"
#include "executor/base/Quote.h"
#include "executor/c/Guard.h"
#include "executor/c/Handles.h"
#include "executor/c/Options.h"
#include "executor/data/SafeTensors.h"
#include "executor/package/Plan.h"
#include "executor/session/Dependents.h"
#include "executor/session/UpdateScalars.h"
#include "executor/session/Values.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/SessionTrainable.h"

using namespace lstmc;

namespace {

void logOutside(const lstmc_session &session, const package::Binding &input) {
  const auto found = session.outside.find(input.name);
  session.log(session.user,
              fmt::format("warning[W0703]: input {}: {} values outside {}, which were clipped or "
                          "left out",
                          inQuotes(input.name), found->second, input.range->text())
                  .c_str());
}

/// What the session would warn of at its end.
void logWarnings(const lstmc_session &session) {
  std::set<std::string_view> told; // an input of several entries once
  for (const package::Entry &entry : session.data().entries)
    for (const package::Binding &input : entry.inputs)
      if (session.outside.contains(input.name) && input.range && told.insert(input.name).second)
        logOutside(session, input);
  Result<Diagnostics> warnings = session.session->indexWarning();
  if (!warnings.ok())
    return;
  for (const Diagnostic &warning : *warnings)
    session.log(session.user, fmt::format("warning[W{}]: {}",
                                          errorRecord(warning.code).name.substr(1), warning.message)
                                  .c_str());
}

Status view(Result<Tensor> tensor, lstmc_tensor *to) {
  if (tensor.ok())
    c::describe(*tensor, to);
  return tensor.status();
}

/// Calls `f(input, given)` for the inputs of an entry that are no scalars.
template <typename F> void eachInput(lstmc_session &session, std::string_view entry, F f) {
  const package::PackageData &data = session.data();
  session.given.resize(data.entries.size());
  for (size_t e = 0; e < data.entries.size(); ++e) {
    if (data.entries[e].name != entry)
      continue;
    const std::vector<package::Binding> &inputs = data.entries[e].inputs;
    session.given[e].resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].role != "scalar")
        f(inputs[i], session.given[e][i]);
  }
}

void setGiven(lstmc_session &session, std::string_view entry, std::string_view name, bool value) {
  eachInput(session, entry, [&](const package::Binding &input, auto given) {
    if (input.name == name)
      given = value;
  });
}

/// The scalars that an update needs and that have no value yet.
Status addMissingScalars(const lstmc_session &session, const char *entry,
                         std::vector<std::string> &names) {
  for (const char *name : {"learning_rate", "update"}) {
    LSTMC_ASSIGN(Tensor value, session.session->input(entry, name));
    const auto number = readElement<double>(value.data, value.dtype, 0);
    if (std::isnan(number) || (std::string_view(name) == "update" && number == 0))
      names.push_back(name);
  }
  return {};
}

/// E0001 with the names of inputs whose memory the caller never had: they would be read as zeros,
/// or as what an entry has left there. Missing scalars alone are for run() to name.
Status checkGiven(lstmc_session &session, const char *entry) {
  std::vector<std::string> names;
  eachInput(session, entry, [&](const package::Binding &input, bool given) {
    if (!given)
      names.push_back(input.name);
  });
  if (names.empty() || !session.session->hasEntry(entry))
    return {}; // run() says what there is not
  const std::optional<size_t> index = session.session->package().findEntry(entry);
  const bool updates =
      std::ranges::any_of(session.data().entries[*index].inputs,
                          [](const auto &input) { return input.name == "learning_rate"; });
  if (updates && session.shares)
    return {}; // run() refuses it whatever is given
  if (updates)
    LSTMC_TRY(addMissingScalars(session, entry, names));
  return fail(ErrorCode::E0001, "{} needs {}, which {} not given", entry, fmt::join(names, ", "),
              names.size() == 1 ? "was" : "were");
}

/// Outputs that depend on labels which were not given; nullopt: no label is missing, or one that
/// may not be.
using UnlabelledOutputs = std::optional<std::vector<Tensor>>;

/// Sets the labels of `forward` that the caller never had, where no other input is missing and
/// some output depends on none of them and the others are floats, which can be NaN.
Result<UnlabelledOutputs> setMissingLabels(lstmc_session &session, std::string_view entry) {
  std::vector<std::pair<Tensor, std::optional<ValueRange>>> labels;
  std::vector<std::string> names;
  bool others = false;
  Status status;
  if (entry != "forward" || !session.session->hasEntry(entry))
    return UnlabelledOutputs();
  eachInput(session, entry, [&](const package::Binding &input, bool given) {
    if (given)
      return;
    others |= input.role != "label";
    names.push_back(input.name);
    Result<Tensor> values = session.session->input(entry, input.name);
    if (values.ok())
      labels.emplace_back(*values, input.range);
    else
      status = values.status();
  });
  LSTMC_TRY(status);
  if (names.empty() || others)
    return UnlabelledOutputs();
  const package::Entry &forward =
      session.data().entries[*session.session->package().findEntry(entry)];
  const std::vector<std::string> unknown = session::dependents(session.data(), forward, names);
  std::vector<Tensor> outputs;
  for (const std::string &name : unknown) {
    LSTMC_ASSIGN(Tensor output, session.session->output(entry, name));
    if (!isFloat(output.dtype))
      return UnlabelledOutputs();
    outputs.push_back(output);
  }
  if (outputs.size() == forward.outputs.size())
    return UnlabelledOutputs();
  for (const auto &[values, range] : labels)
    session::setMissing(values, range);
  return UnlabelledOutputs(std::move(outputs));
}

void fillWithNan(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    writeElement(tensor.data, tensor.dtype, i, std::numeric_limits<double>::quiet_NaN());
}

uint64_t countOutside(const Tensor &values, const ValueRange &range) {
  uint64_t outside = 0;
  for (int64_t i = 0; i < values.elements(); ++i)
    outside += !range.holds(readElement<double>(values.data, values.dtype, i));
  return outside;
}

/// E0604 for an id, a label or a length that the entry's ops have no place for; where the session
/// clips them, they are counted for its log.
Status checkRanges(lstmc_session &session, std::string_view entry) {
  const package::PackageData &data = session.data();
  const auto found = std::ranges::find(data.entries, entry, &package::Entry::name);
  if (found == data.entries.end() || !session.session->hasEntry(entry))
    return {}; // run() says so
  for (const package::Binding &input : found->inputs) {
    if (!input.range)
      continue;
    LSTMC_ASSIGN(Tensor values, session.session->input(entry, input.name));
    Status status = session::checkRange(input.name, values, *input.range, {});
    if (!status.ok() && !session.clips)
      return status;
    if (!status.ok())
      session.outside[input.name] += countOutside(values, *input.range);
  }
  return {};
}

/// The two parts of "PARAMETER/SLOT", where that is no state.
std::optional<std::pair<std::string_view, std::string_view>> slotNamed(const Session &session,
                                                                       std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || session.package().findState(name))
    return std::nullopt;
  return std::pair(name.substr(0, slash), name.substr(slash + 1));
}

/// E0001 while a trainer fills inputs ahead, which a run would overwrite or read.
Status checkNotTraining(const lstmc_session &session) {
  return session.inTraining ? fail(ErrorCode::E0001, "found a training of the session that has not "
                                                     "ended, want its end before another run")
                            : Status();
}

/// Finds a state, or what an optimizer keeps, and checks that it has `size` bytes.
Result<StoredTensor> wholeState(const lstmc_session *session, const char *name, size_t size) {
  const auto slot = slotNamed(*session->session, name);
  LSTMC_ASSIGN(StoredTensor state, slot ? session->session->storedSlot(slot->first, slot->second)
                                        : session->session->storedState(name));
  if (size != state.bytes())
    return fail(ErrorCode::E0001, "state \"{}\": found {} bytes, want {}", name, size,
                state.bytes());
  return state;
}

} // namespace

void c::describe(const Tensor &tensor, lstmc_tensor *to) {
  *to = {};
  to->data = tensor.data;
  to->dtype = lstmc_dtype(tensor.dtype);
  to->rank = tensor.rank;
  std::copy_n(tensor.shape.begin(), size_t(tensor.rank), to->shape);
}

Status c::checkInputs(lstmc_session &session, const char *entry, bool labelsMissing) {
  if (!labelsMissing)
    LSTMC_TRY(checkGiven(session, entry));
  return session.clips && !session.log ? Status() : checkRanges(session, entry);
}

static_assert(LSTMC_MAX_RANK == kMaxRank);
static_assert(int(LSTMC_BOOL) == int(DType::Bool));

extern "C" {

size_t lstmc_dtype_bytes(lstmc_dtype dtype) {
  return unsigned(dtype) < unsigned(kDTypeCount) ? dtypeBytes(DType(dtype)) : 0;
}

int64_t lstmc_tensor_elements(const lstmc_tensor *tensor) {
  if (!tensor || tensor->rank > LSTMC_MAX_RANK)
    return 0;
  int64_t elements = 1;
  for (int32_t i = 0; i < tensor->rank; ++i)
    elements *= tensor->shape[i];
  return elements;
}

size_t lstmc_tensor_bytes(const lstmc_tensor *tensor) {
  return tensor ? size_t(lstmc_tensor_elements(tensor)) * lstmc_dtype_bytes(tensor->dtype) : 0;
}

lstmc_status lstmc_session_create(const lstmc_package *package,
                                  const lstmc_session_options *options, lstmc_session **session) {
  if (!package || !session)
    return c::nullArgument();
  *session = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(const lstmc_session_options given, c::checkedOptions(options));
    LSTMC_ASSIGN(package::Package::Pointer plan, c::planOf(*package, given));
    const std::string list = given.devices ? given.devices : package::deviceList(plan->data());
    const MemorySource memory = {given.allocate, given.release, given.user};
    LSTMC_ASSIGN(auto devices, makeDevices(list, {.threads = given.threads, .memory = memory}));
    SessionOptions settings;
    settings.checkNan = given.check_finite != 0;
    settings.watch = c::watchOf(given);
    settings.entries = c::entriesOf(given);
    LSTMC_ASSIGN(auto made, Session::create(plan, std::move(devices), std::move(settings)));
    *session =
        new lstmc_session{std::move(made), c::handleOf(std::move(plan)), given.log, given.user};
    (*session)->clips = given.clip_indices != 0;
    return {};
  });
}

void lstmc_session_close(lstmc_session *session) {
  if (session && session->log)
    (void)c::guarded([&]() -> Status {
      logWarnings(*session);
      return {};
    });
  delete session;
}

const lstmc_package *lstmc_session_package(const lstmc_session *session) {
  return session ? &session->package : nullptr;
}

lstmc_status lstmc_session_load_weights(lstmc_session *session, const char *path) {
  if (!session || !path)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    ++session->weightChanges;
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
      return session::bindWeights(*session->session, path);
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
    return session::bindWeights(*session->session, found.checkpoint.model);
  });
}

lstmc_status lstmc_session_load_checkpoint(lstmc_session *session, const char *path,
                                           int64_t *updates) {
  if (!session || !path)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    if (session->shares)
      return fail(ErrorCode::E0001, "a checkpoint would change weights that are shared");
    ++session->weightChanges;
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
    LSTMC_ASSIGN(auto model, training::SessionTrainable::create(*session->session));
    LSTMC_ASSIGN(auto formula, session::UpdateFormula::of(session->data().fit));
    LSTMC_TRY(training::restore(found.checkpoint, std::string(formula.row().name), *model));
    if (updates)
      *updates = found.checkpoint.state.update;
    return {};
  });
}

lstmc_status lstmc_session_save_weights(const lstmc_session *session, const char *path) {
  if (!session || !path)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    std::vector<data::NamedTensor> tensors;
    std::deque<std::vector<std::byte>> copies; // of what the host does not see
    for (const package::Parameter &parameter : session->data().parameters) {
      LSTMC_ASSIGN(StoredTensor stored, session->session->storedParameter(parameter.name));
      if (!stored.tensor.data) {
        stored.read(copies.emplace_back(stored.bytes()));
        stored.tensor.data = copies.back().data();
      }
      tensors.push_back({parameter.name, stored.tensor});
    }
    return data::writeSafeTensors(path, tensors, OutputFile::Existing::Replace);
  });
}

lstmc_status lstmc_session_copy_weights(lstmc_session *session, const lstmc_session *from) {
  if (!session || !from)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    ++session->weightChanges;
    for (const package::Parameter &parameter : session->data().parameters) {
      LSTMC_ASSIGN(StoredTensor value, from->session->storedParameter(parameter.name));
      LSTMC_TRY(session->session->setParameter(parameter.name, value));
    }
    return {};
  });
}

lstmc_status lstmc_session_share_weights(lstmc_session *session, lstmc_session *from) {
  if (!session || !from)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(session->session->shareWeights(*from->session));
    session->shares = true;
    from->shares = true;
    return {};
  });
}

lstmc_status lstmc_session_initialise(lstmc_session *session, uint64_t seed) {
  if (!session)
    return c::nullArgument();
  return c::guarded([&] {
    ++session->weightChanges;
    return session->session->initialise(seed);
  });
}

lstmc_status lstmc_session_parameter(const lstmc_session *session, const char *name,
                                     lstmc_tensor *tensor) {
  if (!session || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&] { return view(session->session->parameter(name), tensor); });
}

lstmc_status lstmc_session_gradient(const lstmc_session *session, const char *name,
                                    lstmc_tensor *tensor) {
  if (!session || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&] { return view(session->session->gradient(name), tensor); });
}

lstmc_status lstmc_session_set_parameter(lstmc_session *session, const char *name, const void *from,
                                         size_t size) {
  if (!session || !name || !from)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(Tensor value, session->session->parameter(name));
    const size_t want = size_t(value.elements()) * dtypeBytes(value.dtype);
    if (size != want)
      return fail(ErrorCode::E0001, "parameter \"{}\": found {} bytes, want {}", name, size, want);
    ++session->weightChanges;
    value.data = const_cast<void *>(from); // which is only read
    return session->session->setParameter(name, value);
  });
}

lstmc_status lstmc_session_forget_input(lstmc_session *session, const char *entry,
                                        const char *name) {
  if (!session || !entry || !name)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(session->session->input(entry, name).status());
    setGiven(*session, entry, name, false);
    return {};
  });
}

lstmc_status lstmc_session_input(lstmc_session *session, const char *entry, const char *name,
                                 lstmc_tensor *tensor) {
  if (!session || !entry || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkNotTraining(*session));
    LSTMC_TRY(view(session->session->input(entry, name), tensor));
    setGiven(*session, entry, name, true);
    return {};
  });
}

lstmc_status lstmc_session_output(const lstmc_session *session, const char *entry, const char *name,
                                  lstmc_tensor *tensor) {
  if (!session || !entry || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&] { return view(session->session->output(entry, name), tensor); });
}

lstmc_status lstmc_session_run(lstmc_session *session, const char *entry) {
  if (!session || !entry)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkNotTraining(*session));
    LSTMC_ASSIGN(const auto unlabelled, setMissingLabels(*session, entry));
    LSTMC_TRY(c::checkInputs(*session, entry, unlabelled.has_value()));
    LSTMC_TRY(session->session->run(entry));
    for (const Tensor &output : unlabelled.value_or(std::vector<Tensor>()))
      fillWithNan(output);
    return {};
  });
}

lstmc_status lstmc_session_set_update(lstmc_session *session, double learning_rate, int64_t update,
                                      uint64_t seed) {
  if (!session)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    if (!session->session->hasEntry("step"))
      return fail(ErrorCode::E0001, "the package has no entry step: it was compiled to run only");
    session->session->setScalar("learning_rate", learning_rate);
    session->session->setScalar("update", update);
    session->session->setScalar("seed", int64_t(seed));
    return {};
  });
}

lstmc_status lstmc_session_get_state(const lstmc_session *session, const char *name, void *to,
                                     size_t size) {
  if (!session || !name || !to)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(StoredTensor state, wholeState(session, name, size));
    state.read({static_cast<std::byte *>(to), size});
    return {};
  });
}

lstmc_status lstmc_session_set_state(lstmc_session *session, const char *name, const void *from,
                                     size_t size) {
  if (!session || !name || !from)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(StoredTensor state, wholeState(session, name, size));
    state.write({static_cast<const std::byte *>(from), size});
    if (slotNamed(*session->session, name))
      session->session->parametersChanged(); // copies of it are sent before the next run
    return {};
  });
}

lstmc_status lstmc_session_state(const lstmc_session *session, const char *name,
                                 lstmc_tensor *tensor) {
  if (!session || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&] {
    const auto slot = slotNamed(*session->session, name);
    return view(slot ? session->session->slot(slot->first, slot->second)
                     : session->session->state(name),
                tensor);
  });
}

void lstmc_session_reset_states(lstmc_session *session) {
  if (session)
    session->session->resetStates();
}

uint64_t lstmc_session_weights_hash(const lstmc_session *session) {
  return session ? session->session->weightsHash() : 0;
}
}
