// Runs compiled networks from C++20. Header only, over lstmc.h: no type of the standard library
// crosses liblstmc.so, so programs of any compiler use one binary.
//
//   lstmc::Package package = lstmc::Package::open("net.lstmc");
//   lstmc::Session session = package.session({.threads = 1});
//   session.load("net.safetensors");
//   session.run({{"data", samples}});
//   lstmc::Tensor<const float> y = session.output<float>("softmax0_output");
//
// Package, Weights and Vocabulary are immutable, are copied by reference, and may be used by any
// number of threads. A Session is moved, not copied, and is used by one thread at a time. Nothing
// is printed, and nothing is written that was not named. Built with
// c++ -std=c++20 $(pkg-config --cflags --libs lstmc), or linked with lstmc::runtime of CMake.
#ifndef LSTMC_LSTMC_HPP
#define LSTMC_LSTMC_HPP

#include <lstmc/error.hpp>
#include <lstmc/state.hpp>
#include <lstmc/tensor.hpp>

#include <initializer_list>

#include <sys/stat.h>

namespace lstmc {
inline namespace LSTMC_ABI {

class Package;
class Session;

/// std::stop_token, or another type that says whether a run is to begin.
template <typename T>
concept Stop = requires(const T &stop) {
  { stop.stop_requested() } -> std::convertible_to<bool>;
};
struct NeverStop {
  constexpr bool stop_requested() const noexcept { return false; }
};

/// What a program does with a message: any callable for a std::string_view; empty: nothing. Copies
/// share the callable. (std::function would double what this header costs to compile.)
class Log {
public:
  Log() noexcept = default;
  template <typename F>
    requires std::invocable<F &, std::string_view> && (!std::same_as<F, Log>)
  Log(F callable)
      : callable_(std::make_shared<F>(std::move(callable))),
        call_([](void *to, std::string_view message) { (*static_cast<F *>(to))(message); }) {}

  explicit operator bool() const noexcept { return call_ != nullptr; }
  void operator()(std::string_view message) const { call_(callable_.get(), message); }

private:
  std::shared_ptr<void> callable_;
  void (*call_)(void *to, std::string_view message) = nullptr;
};

/// Extents by their names: {{"batch", 1}, {"seq", 1}}.
using Dims = std::vector<std::pair<std::string, std::int64_t>>;

/// Makes plans that a package does not have: compile() of network.hpp leaves its packages one.
/// Any number of threads may use one.
struct Planner {
  virtual ~Planner() = default;
  /// The bytes of a package of the same network with these extents, in place of those it has.
  virtual Result<std::vector<std::byte>> plan(const Dims &dims) const = 0;
};

namespace detail {

/// A name with a zero byte at its end, short ones without allocating.
class CString {
public:
  explicit CString(std::string_view text) {
    char *to = small_;
    if (text.size() >= sizeof small_) {
      large_.resize(text.size());
      to = large_.data();
    }
    text.copy(to, text.size());
    to[text.size()] = 0;
    text_ = to;
  }
  CString(const CString &) = delete;
  CString &operator=(const CString &) = delete;
  operator const char *() const noexcept { return text_; }

private:
  char small_[64];
  std::string large_;
  const char *text_;
};

struct Close {
  void operator()(lstmc_package *package) const noexcept { lstmc_package_close(package); }
  void operator()(lstmc_session *session) const noexcept { lstmc_session_close(session); }
  void operator()(lstmc_vocabulary *vocabulary) const noexcept {
    lstmc_vocabulary_close(vocabulary);
  }
};

/// What copies of a Package share.
struct PackageFile {
  std::unique_ptr<lstmc_package, Close> handle;
  std::string checkpoint; ///< the folder; "" of a package that is none of a checkpoint
  std::shared_ptr<const Planner> planner; ///< of extents that the package does not have; or null
};

/// What a session was asked for, as the C interface takes it.
struct SessionRequest {
  std::shared_ptr<const PackageFile> package;
  std::string devices, entries, dims;
  int threads = 0;
  bool check_finite = false, check_ranges = true;
};

/// A session, and what has to stay at its address.
struct SessionMemory {
  SessionRequest request;
  Log log;
  std::unique_ptr<lstmc_session, Close> handle; ///< closed first, which may log
  bool filled = false;         ///< whether inputs were given, or asked for, or forgotten
  std::optional<Error> failed; ///< without exceptions, of a call that has no Result

  static void tell(void *user, const char *message) noexcept {
    const auto &log = static_cast<SessionMemory *>(user)->log;
#if LSTMC_EXCEPTIONS
    try {
      log(message);
    } catch (...) { // has no one to go to: the caller is in C
    }
#else
    log(message);
#endif
  }
};

inline Result<std::unique_ptr<SessionMemory>> open_session(SessionRequest request, Log log) {
  auto memory = std::make_unique<SessionMemory>();
  memory->request = std::move(request);
  memory->log = std::move(log);
  auto given = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
  const SessionRequest &asked = memory->request;
  lstmc_session_options options = {};
  options.size = sizeof options;
  options.devices = given(asked.devices);
  options.entries = given(asked.entries);
  options.dims = given(asked.dims);
  options.threads = asked.threads;
  options.check_finite = asked.check_finite;
  options.clip_indices = !asked.check_ranges;
  if (memory->log) {
    options.log = &SessionMemory::tell;
    options.user = memory.get();
  }
  lstmc_session *made = nullptr;
  const auto status = lstmc_session_create(asked.package->handle.get(), &options, &made);
  memory->handle.reset(made);
  if (status != LSTMC_OK)
    return Error::last();
  return memory;
}

/// Shares the weights, or copies them where devices cannot share.
inline Result<void> take_weights(lstmc_session *session, lstmc_session *from) noexcept {
  if (lstmc_session_share_weights(session, from) == LSTMC_OK)
    return {};
  Error refused = Error::last();
  if (lstmc_session_copy_weights(session, from) == LSTMC_OK)
    return {};
  return refused;
}

inline TensorInfo info_of(const lstmc_tensor_info &found) {
  TensorInfo info;
  info.name = found.name;
  info.role = found.role;
  info.dtype = static_cast<DType>(found.tensor.dtype);
  info.shape.assign(found.tensor.shape, found.tensor.shape + found.tensor.rank);
  info.dims.assign(found.dims, found.dims + found.tensor.rank);
  if (found.has_range)
    info.range = Range{found.low, found.high,
                       found.has_ignored ? std::optional(found.ignored) : std::nullopt};
  return info;
}

inline Result<TensorInfo> info(const lstmc_package *package, lstmc_kind kind, const char *entry,
                               const char *name) {
  lstmc_tensor_info found = {};
  found.size = sizeof found;
  if (lstmc_package_tensor(package, kind, entry, name, &found) != LSTMC_OK)
    return Error::last();
  return info_of(found);
}

/// Those of a kind that `name` lists by index.
template <typename Name>
Result<std::vector<TensorInfo>> infos(const lstmc_package *package, lstmc_kind kind,
                                      const char *entry, Name name) {
  std::vector<TensorInfo> found;
  for (std::size_t i = 0; const char *next = name(i); ++i) {
    Result<TensorInfo> described = info(package, kind, entry, next);
    if (!described)
      return described.error();
    found.push_back(*std::move(described));
  }
  return found;
}

inline std::vector<std::string> entries(const lstmc_package *package) {
  std::vector<std::string> names;
  for (std::size_t i = 0; const char *name = lstmc_package_entry(package, i); ++i)
    if (const std::string_view text = name; text != "init" && text.find(':') == text.npos)
      names.emplace_back(text); // others are what a session runs by itself
  return names;
}

/// Inputs or outputs of an entry.
inline Result<std::vector<TensorInfo>> bound(const lstmc_package *package, lstmc_kind kind,
                                             std::string_view entry) {
  const CString text(entry);
  auto list = kind == LSTMC_INPUT ? lstmc_package_input : lstmc_package_output;
  auto found = infos(package, kind, text, [&](std::size_t i) { return list(package, text, i); });
  if (found && found->empty()) // of an entry without any, or of none
    for (const std::string &known : entries(package))
      if (known == entry)
        return found;
  if (found && found->empty())
    return info(package, kind, text, "").error();
  return found;
}

inline std::vector<TensorInfo> states(const lstmc_package *package) {
  auto found = infos(package, LSTMC_STATE, nullptr,
                     [&](std::size_t i) { return lstmc_package_state(package, i); });
  return found ? *std::move(found) : std::vector<TensorInfo>();
}

inline std::vector<TensorInfo> parameters(const lstmc_package *package) {
  auto found = infos(package, LSTMC_PARAMETER, nullptr,
                     [&](std::size_t i) { return lstmc_package_parameter(package, i); });
  return found ? *std::move(found) : std::vector<TensorInfo>();
}

inline std::vector<TensorInfo> slots(const lstmc_package *package) {
  auto found = infos(package, LSTMC_SLOT, nullptr,
                     [&](std::size_t i) { return lstmc_package_slot(package, i); });
  return found ? *std::move(found) : std::vector<TensorInfo>();
}

inline std::span<const std::int64_t> shape_of(const lstmc_tensor &tensor) noexcept {
  return {tensor.shape, static_cast<std::size_t>(tensor.rank)};
}

/// Status::usage for another type. `what`: "input".
template <Element T>
Result<Tensor<T>> typed(const lstmc_tensor &tensor, std::string_view what, std::string_view name) {
  if (static_cast<DType>(tensor.dtype) != dtype_of<T>)
    return Error::usage({what, " \"", name, "\": found ", lstmc::name(dtype_of<T>), ", want ",
                         type_text(static_cast<DType>(tensor.dtype), shape_of(tensor))});
  return Tensor<T>(static_cast<T *>(tensor.data), shape_of(tensor));
}

} // namespace detail

/// The weights of a network: immutable, in memory once, packed ones too, for all sessions that
/// share them. Copies are references. Any number of threads may use one.
class Weights {
public:
  /// Weights of no network.
  Weights() noexcept = default;

  /// Names, types and shapes.
  std::vector<TensorInfo> list() const {
    return detail::parameters(lstmc_session_package(handle()));
  }
  /// A view of a parameter, valid as long as this or a copy of it. Status::usage for an unknown
  /// name, with the nearest one, or another type.
  template <Element T> Result<Tensor<const T>> try_get(std::string_view name) const noexcept {
    return detail::attempt([&]() -> Result<Tensor<const T>> {
      lstmc_tensor found;
      if (lstmc_session_parameter(handle(), detail::CString(name), &found) != LSTMC_OK)
        return Error::last();
      return detail::typed<const T>(found, "parameter", name);
    });
  }
  /// Writes a safetensors file, which load() and the command read. A file of this name is replaced
  /// once the new one is complete. Status::bad_file.
  Result<void> try_save(const std::string &path) const noexcept {
    return detail::checked(lstmc_session_save_weights(handle(), path.c_str()));
  }
  /// As the command prints it.
  std::uint64_t hash() const noexcept { return lstmc_session_weights_hash(handle()); }

#if LSTMC_EXCEPTIONS
  template <Element T> Tensor<const T> get(std::string_view name) const {
    return try_get<T>(name).value();
  }
  void save(const std::string &path) const { try_save(path).value(); }
#endif

private:
  friend class Package;
  friend class Session;

  explicit Weights(std::shared_ptr<detail::SessionMemory> memory) noexcept
      : memory_(std::move(memory)) {}
  lstmc_session *handle() const noexcept { return memory_ ? memory_->handle.get() : nullptr; }

  std::shared_ptr<detail::SessionMemory> memory_; ///< a session that never runs
};

struct SessionOptions {
  std::string devices{}; ///< a list as for -d; "": those that the package was compiled for
  int threads = 0;       ///< per device; 0: LSTMC_THREADS, else processors divided evenly
  /// Shared with the session, or copied for devices whose memory the host cannot see. Nothing that
  /// changes weights is then allowed.
  std::optional<Weights> weights{};
  /// Extents by their names, of a plan that the package has; empty: those of its first. A
  /// checkpoint of a language model has one for {{"batch", 1}, {"seq", 1}} too. A package of
  /// compile() makes others when they are first asked for, and keeps them.
  Dims dims{};
  std::vector<std::string> entries{}; ///< {"forward"}: no memory for training; empty: all
  bool check_finite = false;          ///< stop at the first value that is not finite (slower)
  /// Refuse ids, labels and lengths out of range (E0604); else they are clipped or left out, as
  /// documented for each op, and counted for the log (W0703).
  bool check_ranges = true;
  /// Gets what is no failure: a launch that takes very long, from a thread of the session; what a
  /// library carries out; by the session's end what was clipped. Exceptions from it are dropped.
  Log log{};
};

/// A package with memory, weights and states: what runs. Made by Package::session().
///
/// One thread uses it at a time, from writing inputs to reading outputs; run() in a second thread
/// meanwhile is Status::usage. Views that it returns are valid until it is destroyed (a move keeps
/// them), with these contents: an input's until another entry runs, an output's until the next run.
/// Names that there are not are Status::usage, with the nearest one and the list.
///
/// Without exceptions, a call with no Result that fails gives an empty value (of which no element
/// may be read) and makes the next try_run() fail with its error.
class Session {
public:
  Session(Session &&) noexcept = default;
  Session &operator=(Session &&) noexcept = default;

  /// A view to write an entry's input to. It keeps its place from run to run, so it may be kept.
  template <Element T>
  Result<Tensor<T>> try_input(std::string_view name, std::string_view entry = "forward") noexcept {
    return detail::attempt([&]() -> Result<Tensor<T>> {
      lstmc_tensor found;
      if (memory_)
        memory_->filled = true;
      if (lstmc_session_input(raw(), detail::CString(entry), detail::CString(name), &found) !=
          LSTMC_OK)
        return Error::last();
      return detail::typed<T>(found, "input", name);
    });
  }
  template <Element T> Tensor<T> input(std::string_view name, std::string_view entry = "forward") {
    return take(try_input<T>(name, entry));
  }

  /// A view of an entry's output.
  template <Element T>
  Result<Tensor<const T>> try_output(std::string_view name,
                                     std::string_view entry = "forward") const noexcept {
    return detail::attempt([&]() -> Result<Tensor<const T>> {
      lstmc_tensor found;
      if (lstmc_session_output(raw(), detail::CString(entry), detail::CString(name), &found) !=
          LSTMC_OK)
        return Error::last();
      return detail::typed<const T>(found, "output", name);
    });
  }
  template <Element T>
  Tensor<const T> output(std::string_view name, std::string_view entry = "forward") const {
    return take(try_output<T>(name, entry));
  }

  /// Copies values into inputs and runs an entry. Inputs that are not given keep their values;
  /// "forward" of which none was ever given runs on zeros, to warm up.
  /// Nothing has run when it fails with Status::usage (an input that was never given, another type
  /// or number of values), Status::bad_file (E0604: a value out of range, with row and place) or
  /// Status::stopped, for which `stop` is asked before the run; a run that has begun ends.
  template <Stop S = NeverStop>
  Result<void> try_run(std::string_view entry, std::span<const Input> inputs,
                       const S &stop = {}) noexcept {
    return detail::attempt([&]() -> Result<void> {
      if (memory_ && memory_->failed)
        return *std::exchange(memory_->failed, std::nullopt);
      if (stop.stop_requested())
        return Error::make(Status::stopped, "", {"a stop was requested before the run"});
      const detail::CString text(entry);
      if (inputs.empty() && memory_ && !memory_->filled && entry == "forward")
        return run_on_zeros();
      for (const Input &input : inputs)
        if (Result<void> set = fill(text, input); !set)
          return set;
      return detail::checked(lstmc_session_run(raw(), text));
    });
  }
  template <Stop S = NeverStop>
  Result<void> try_run(std::initializer_list<Input> inputs, const S &stop = {}) noexcept {
    return try_run("forward", std::span(inputs.begin(), inputs.size()), stop);
  }
  template <Stop S = NeverStop>
  Result<void> try_run(std::string_view entry, const S &stop = {}) noexcept {
    return try_run(entry, std::span<const Input>(), stop);
  }
  template <Stop S = NeverStop> Result<void> try_run(const S &stop = {}) noexcept {
    return try_run("forward", std::span<const Input>(), stop);
  }

  /// There is none, and a call says so when it is compiled: each tensor has its place in the plan,
  /// where devices read and write it. input() is that place, for a producer to write to; the values
  /// of output() are copied before the next run.
  template <typename... Memory> void bind(Memory &&...) {
    static_assert(
        sizeof...(Memory) == ~std::size_t(),
        "a session runs in memory that it has planned: write to input(), or copy output()");
  }

  /// Makes all inputs of an entry such as were never given: where requests of several callers
  /// follow one another, none runs on the values of another one.
  Result<void> try_forget_inputs(std::string_view entry = "forward") noexcept {
    return detail::attempt([&]() -> Result<void> { return forget(detail::CString(entry)); });
  }
  void forget_inputs(std::string_view entry = "forward") { take(try_forget_inputs(entry)); }

  /// Copies values into one input of an entry, for a run that is to come.
  Result<void> try_fill(std::string_view entry, const Input &input) noexcept {
    return detail::attempt([&]() -> Result<void> { return fill(detail::CString(entry), input); });
  }

  /// States as they are between two runs, and back. restore() is Status::usage, and changes
  /// nothing, for a state whose names, types or shapes are others.
  Result<State> try_state() const noexcept {
    return detail::attempt([&]() -> Result<State> {
      State state;
      for (TensorInfo &info : states()) {
        const detail::CString name(info.name);
        lstmc_tensor shape;
        shape.dtype = static_cast<lstmc_dtype>(info.dtype);
        shape.rank = static_cast<std::int32_t>(info.shape.size());
        for (std::size_t i = 0; i < info.shape.size(); ++i)
          shape.shape[i] = info.shape[i];
        State::Part part{std::move(info), std::vector<std::byte>(lstmc_tensor_bytes(&shape))};
        if (lstmc_session_get_state(raw(), name, part.values.data(), part.values.size()) !=
            LSTMC_OK)
          return Error::last();
        state.parts_.push_back(std::move(part));
      }
      return state;
    });
  }
  State state() const { return take(try_state()); }
  Result<void> try_restore(const State &state) noexcept {
    return detail::attempt([&]() -> Result<void> {
      if (Result<void> same = check_states(state); !same)
        return same;
      for (const State::Part &part : state.parts_)
        if (lstmc_session_set_state(raw(), part.info.name.c_str(), part.values.data(),
                                    part.values.size()) != LSTMC_OK)
          return Error::last();
      return {};
    });
  }
  void restore(const State &state) { take(try_restore(state)); }
  /// All states are 0, as after the session was made.
  void reset_states() noexcept { lstmc_session_reset_states(raw()); }

  /// Views of a parameter, and of its gradient after a run of "step"; valid until the next run.
  template <Element T> Result<Tensor<const T>> try_parameter(std::string_view name) const noexcept {
    return persistent<T>(lstmc_session_parameter, "parameter", name);
  }
  template <Element T> Tensor<const T> parameter(std::string_view name) const {
    return take(try_parameter<T>(name));
  }
  template <Element T> Result<Tensor<const T>> try_gradient(std::string_view name) const noexcept {
    return persistent<T>(lstmc_session_gradient, "gradient of", name);
  }
  template <Element T> Tensor<const T> gradient(std::string_view name) const {
    return take(try_gradient<T>(name));
  }
  /// Status::usage for another type or number of values, and for weights that are shared.
  Result<void> try_set_parameter(const Input &value) noexcept {
    return detail::attempt([&]() -> Result<void> {
      const detail::CString name(value.name());
      lstmc_tensor found;
      if (lstmc_session_parameter(raw(), name, &found) != LSTMC_OK)
        return Error::last();
      if (Result<void> fits = check(value, found, "parameter"); !fits)
        return fits;
      return detail::checked(lstmc_session_set_parameter(raw(), name, value.data(), value.bytes()));
    });
  }
  void set_parameter(const Input &value) { take(try_set_parameter(value)); }

  /// What the optimizer keeps of a parameter, by "PARAMETER/SLOT": a view of it, and back, with
  /// which training goes on. Errors as of parameters.
  template <Element T> Result<Tensor<const T>> try_slot(std::string_view name) const noexcept {
    return persistent<T>(lstmc_session_state, "slot", name);
  }
  template <Element T> Tensor<const T> slot(std::string_view name) const {
    return take(try_slot<T>(name));
  }
  Result<void> try_set_slot(const Input &value) noexcept {
    return detail::attempt([&]() -> Result<void> {
      const detail::CString name(value.name());
      lstmc_tensor found;
      if (lstmc_session_state(raw(), name, &found) != LSTMC_OK)
        return Error::last();
      if (Result<void> fits = check(value, found, "slot"); !fits)
        return fits;
      return detail::checked(lstmc_session_set_state(raw(), name, value.data(), value.bytes()));
    });
  }
  void set_slot(const Input &value) { take(try_set_slot(value)); }

  /// Gives all parameters the initial values of the source for `seed`, and clears states.
  Result<void> try_initialise(std::uint64_t seed) noexcept {
    return detail::checked(lstmc_session_initialise(raw(), seed));
  }
  void initialise(std::uint64_t seed) { take(try_initialise(seed)); }
  /// Reads all parameters by name: safetensors, npz, or a checkpoint folder. Status::bad_file.
  Result<void> try_load(const std::string &path) noexcept {
    return detail::checked(lstmc_session_load_weights(raw(), path.c_str()));
  }
  void load(const std::string &path) { take(try_load(path)); }
  /// Writes a safetensors file, as Weights::try_save().
  Result<void> try_save(const std::string &path) const noexcept {
    return detail::checked(lstmc_session_save_weights(raw(), path.c_str()));
  }
  void save(const std::string &path) const { take(try_save(path)); }

  /// The weights, for other sessions of the network. From now on they are constant here too: what
  /// would change them is Status::usage. For devices whose memory the host cannot see it is a copy.
  Result<Weights> try_weights() noexcept {
    return detail::attempt([&]() -> Result<Weights> { return held(detail::take_weights); });
  }
  Weights weights() { return take(try_weights()); }
  /// A copy of the weights as they are, which may go on to change here.
  Result<Weights> copied_weights() const noexcept {
    return detail::attempt([&]() -> Result<Weights> {
      return held([](lstmc_session *to, lstmc_session *from) {
        return detail::checked(lstmc_session_copy_weights(to, from));
      });
    });
  }
  Result<void> try_copy_weights(const Weights &from) noexcept {
    return detail::checked(lstmc_session_copy_weights(raw(), from.handle()));
  }
  /// As the command prints it.
  std::uint64_t weights_hash() const noexcept { return lstmc_session_weights_hash(raw()); }

  /// Sets the scalars of the next run of "step": the rate, the number of the update from 1, and the
  /// seed of dropout. Status::usage where the package has no step.
  Result<void> try_set_update(double rate, std::int64_t update, std::uint64_t seed = 0) noexcept {
    return detail::checked(lstmc_session_set_update(raw(), rate, update, seed));
  }
  void set_update(double rate, std::int64_t update, std::uint64_t seed = 0) {
    take(try_set_update(rate, update, seed));
  }

  // Names, types and shapes, with this session's extents.
  Result<std::vector<TensorInfo>> try_inputs(std::string_view entry = "forward") const noexcept {
    return detail::attempt([&] { return detail::bound(package(), LSTMC_INPUT, entry); });
  }
  std::vector<TensorInfo> inputs(std::string_view entry = "forward") const {
    return take(try_inputs(entry));
  }
  Result<std::vector<TensorInfo>> try_outputs(std::string_view entry = "forward") const noexcept {
    return detail::attempt([&] { return detail::bound(package(), LSTMC_OUTPUT, entry); });
  }
  std::vector<TensorInfo> outputs(std::string_view entry = "forward") const {
    return take(try_outputs(entry));
  }
  std::vector<TensorInfo> states() const { return detail::states(package()); }
  std::vector<TensorInfo> parameters() const { return detail::parameters(package()); }
  std::vector<TensorInfo> slots() const { return detail::slots(package()); }

  /// For functions of lstmc.h, by which inputs may be given too; null of a session that was moved
  /// from.
  lstmc_session *handle() const noexcept {
    if (memory_)
      memory_->filled = true;
    return raw();
  }

#if LSTMC_EXCEPTIONS
  // As try_run().
  template <Stop S = NeverStop>
  void run(std::string_view entry, std::span<const Input> inputs, const S &stop = {}) {
    try_run(entry, inputs, stop).value();
  }
  template <Stop S = NeverStop> void run(std::initializer_list<Input> inputs, const S &stop = {}) {
    try_run(inputs, stop).value();
  }
  template <Stop S = NeverStop> void run(std::string_view entry, const S &stop = {}) {
    try_run(entry, stop).value();
  }
  template <Stop S = NeverStop> void run(const S &stop = {}) { try_run(stop).value(); }
#endif

private:
  friend class Package;

  explicit Session(std::unique_ptr<detail::SessionMemory> memory) noexcept
      : memory_(std::move(memory)) {}

  lstmc_session *raw() const noexcept { return memory_ ? memory_->handle.get() : nullptr; }
  const lstmc_package *package() const noexcept { return lstmc_session_package(raw()); }

  /// The value; throws the error, or keeps it for the next run.
  template <typename T> T take(Result<T> result) const {
#if LSTMC_EXCEPTIONS
    return std::move(result).value();
#else
    if (!result && memory_ && !memory_->failed)
      memory_->failed = result.error();
    if constexpr (!std::is_void_v<T>)
      return result ? *std::move(result) : T();
#endif
  }

  /// A session that never runs, which `give(to, from)` gives the weights.
  template <typename Give> Result<Weights> held(Give give) const {
    if (!memory_)
      return Error::usage({"found a session that was moved from"});
    detail::SessionRequest request = memory_->request;
    request.threads = 1;
    Result<std::unique_ptr<detail::SessionMemory>> holder =
        detail::open_session(std::move(request), {});
    if (!holder)
      return holder.error();
    if (Result<void> given = give((*holder)->handle.get(), raw()); !given)
      return given.error();
    return Weights(*std::move(holder));
  }

  template <Element T, typename Find>
  Result<Tensor<const T>> persistent(Find find, std::string_view what,
                                     std::string_view name) const noexcept {
    return detail::attempt([&]() -> Result<Tensor<const T>> {
      lstmc_tensor found;
      if (find(raw(), detail::CString(name), &found) != LSTMC_OK)
        return Error::last();
      return detail::typed<const T>(found, what, name);
    });
  }

  static Result<void> check(const Input &value, const lstmc_tensor &want, std::string_view what) {
    const auto dtype = static_cast<DType>(want.dtype);
    const auto elements = static_cast<std::size_t>(lstmc_tensor_elements(&want));
    if (value.dtype() == dtype && value.size() == elements)
      return {};
    return Error::usage({what, " \"", value.name(), "\": found ", std::to_string(value.size()),
                         " values of ", lstmc::name(value.dtype()), ", want ",
                         std::to_string(elements), ": ",
                         detail::type_text(dtype, detail::shape_of(want))});
  }

  Result<void> forget(const char *entry) {
    if (memory_)
      memory_->filled = true;
    for (std::size_t i = 0; const char *name = lstmc_package_input(package(), entry, i); ++i)
      if (lstmc_session_forget_input(raw(), entry, name) != LSTMC_OK)
        return Error::last();
    return {};
  }

  /// "forward" of which no input was ever given; afterwards none is given either.
  Result<void> run_on_zeros() {
    Result<std::vector<TensorInfo>> all = detail::bound(package(), LSTMC_INPUT, "forward");
    if (!all)
      return all.error();
    for (const TensorInfo &info : *all) {
      lstmc_tensor to;
      if (info.role != "data")
        continue;
      if (lstmc_session_input(raw(), "forward", info.name.c_str(), &to) != LSTMC_OK)
        return Error::last();
      std::memset(to.data, 0, lstmc_tensor_bytes(&to));
    }
    Result<void> ran = detail::checked(lstmc_session_run(raw(), "forward"));
    Result<void> forgotten = forget("forward");
    memory_->filled = false;
    return ran ? forgotten : ran;
  }

  Result<void> fill(const char *entry, const Input &value) {
    lstmc_tensor to;
    if (memory_)
      memory_->filled = true;
    if (lstmc_session_input(raw(), entry, detail::CString(value.name()), &to) != LSTMC_OK)
      return Error::last();
    if (Result<void> fits = check(value, to, "input"); !fits)
      return fits;
    std::memcpy(to.data, value.data(), value.bytes());
    return {};
  }

  Result<void> check_states(const State &state) const {
    auto describe = [](const std::vector<TensorInfo> &infos) {
      std::string text;
      for (const TensorInfo &info : infos)
        text.append(text.empty() ? "" : ", ")
            .append(info.name)
            .append(" ")
            .append(detail::type_text(info.dtype, info.shape));
      return text.empty() ? std::string("none") : text;
    };
    const std::string found = describe(state.list()), want = describe(states());
    return found == want ? Result<void>()
                         : Result<void>(Error::usage({"states: found ", found, ", want ", want}));
  }

  std::unique_ptr<detail::SessionMemory> memory_;
};

/// A compiled network. Immutable; copies are references; any number of threads may use one.
class Package {
public:
  /// Reads and checks a package file, or the packages of a checkpoint folder of `lstmc train`.
  /// Status::bad_file, with file, byte and field.
  static Result<Package> try_open(const std::string &path) noexcept {
    return detail::attempt([&]() -> Result<Package> {
      lstmc_package *opened = nullptr;
      const auto status = lstmc_package_open(path.c_str(), &opened);
      struct stat found;
      const bool folder = stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
      return made(status, opened, folder ? path : std::string());
    });
  }
  /// The same for bytes in memory, such as the compiler's, which are copied. `planner`, unless
  /// null, makes plans for extents that sessions ask for and the package does not have.
  static Result<Package> try_read(std::span<const std::byte> bytes,
                                  std::shared_ptr<const Planner> planner = nullptr) noexcept {
    return detail::attempt([&]() -> Result<Package> {
      lstmc_package *opened = nullptr;
      const auto status = lstmc_package_open_memory(bytes.data(), bytes.size(), &opened);
      return made(status, opened, std::string(), std::move(planner));
    });
  }

  /// Those that a session can run: "forward", and for a package that trains "step", "evaluate".
  std::vector<std::string> entries() const { return detail::entries(handle()); }
  /// What an entry takes and gives, before there is a session. Status::usage for an unknown entry.
  Result<std::vector<TensorInfo>> try_inputs(std::string_view entry = "forward") const noexcept {
    return detail::attempt([&] { return detail::bound(handle(), LSTMC_INPUT, entry); });
  }
  Result<std::vector<TensorInfo>> try_outputs(std::string_view entry = "forward") const noexcept {
    return detail::attempt([&] { return detail::bound(handle(), LSTMC_OUTPUT, entry); });
  }
  std::vector<TensorInfo> states() const { return detail::states(handle()); }
  std::vector<TensorInfo> parameters() const { return detail::parameters(handle()); }
  /// What the optimizer keeps: "PARAMETER/SLOT".
  std::vector<TensorInfo> slots() const { return detail::slots(handle()); }
  /// Whether it is from a checkpoint, whose weights sessions then have.
  bool is_checkpoint() const noexcept { return !file_->checkpoint.empty(); }
  /// Bytes that a session with all entries takes on its devices, weights included.
  std::uint64_t planned_bytes() const noexcept { return lstmc_package_planned_bytes(handle()); }

  /// A session with memory of its own. Its weights are those of the options; else those of the
  /// checkpoint that the package is from; else the initial values of the source for seed 0 (a
  /// package that was made with weights has these). States are 0. Status::usage for options,
  /// Status::no_device, Status::does_not_fit, Status::out_of_memory.
  Result<Session> try_session(const SessionOptions &options = {}) const noexcept {
    return detail::attempt([&]() -> Result<Session> {
      detail::SessionRequest asked = request(options);
      if (Result<void> planned = plan(asked.dims, options.dims); !planned)
        return planned.error();
      auto memory = detail::open_session(std::move(asked), options.log);
      if (!memory)
        return memory.error();
      Session session(*std::move(memory));
      Result<void> weighted = options.weights
                                  ? detail::take_weights(session.raw(), options.weights->handle())
                              : file_->checkpoint.empty() ? session.try_initialise(0)
                                                          : session.try_load(file_->checkpoint);
      if (!weighted)
        return weighted.error();
      return session;
    });
  }

  /// Reads weights of this network, once for many sessions: safetensors, npz, or a checkpoint
  /// folder. Status::bad_file, with file and parameter.
  Result<Weights> try_weights(const std::string &path) const noexcept {
    return detail::attempt([&]() -> Result<Weights> {
      SessionOptions options;
      options.threads = 1;
      for (const std::string &entry : entries())
        if (entry == "forward")
          options.entries = {entry};
      auto memory = detail::open_session(request(options), {});
      if (!memory)
        return memory.error();
      if (lstmc_session_load_weights((*memory)->handle.get(), path.c_str()) != LSTMC_OK)
        return Error::last();
      return Session(*std::move(memory)).try_weights();
    });
  }

  /// For functions of lstmc.h.
  const lstmc_package *handle() const noexcept { return file_->handle.get(); }

#if LSTMC_EXCEPTIONS
  static Package open(const std::string &path) { return try_open(path).value(); }
  static Package read(std::span<const std::byte> bytes) { return try_read(bytes).value(); }
  std::vector<TensorInfo> inputs(std::string_view entry = "forward") const {
    return try_inputs(entry).value();
  }
  std::vector<TensorInfo> outputs(std::string_view entry = "forward") const {
    return try_outputs(entry).value();
  }
  Session session(const SessionOptions &options = {}) const { return try_session(options).value(); }
  Weights weights(const std::string &path) const { return try_weights(path).value(); }
#endif

private:
  explicit Package(std::shared_ptr<const detail::PackageFile> file) noexcept
      : file_(std::move(file)) {}

  /// Takes over what the C interface has opened.
  static Result<Package> made(lstmc_status status, lstmc_package *opened, std::string checkpoint,
                              std::shared_ptr<const Planner> planner = nullptr) {
    std::unique_ptr<lstmc_package, detail::Close> handle(opened);
    if (status != LSTMC_OK)
      return Error::last();
    return Package(std::make_shared<const detail::PackageFile>(
        detail::PackageFile{std::move(handle), std::move(checkpoint), std::move(planner)}));
  }

  /// Adds the plan for extents that the package does not have, where somebody makes it.
  Result<void> plan(const std::string &text, const Dims &dims) const {
    std::uint32_t found = 0;
    if (!file_->planner || dims.empty())
      return {};
    if (lstmc_package_find_plan(handle(), text.c_str(), &found) != LSTMC_OK)
      return Error::last();
    if (found)
      return {};
    const Result<std::vector<std::byte>> bytes = file_->planner->plan(dims);
    if (!bytes)
      return bytes.error();
    return detail::checked(
        lstmc_package_add_plan(file_->handle.get(), text.c_str(), bytes->data(), bytes->size()));
  }

  detail::SessionRequest request(const SessionOptions &options) const {
    detail::SessionRequest request;
    request.package = file_;
    request.devices = options.devices;
    request.threads = options.threads;
    request.check_finite = options.check_finite;
    request.check_ranges = options.check_ranges;
    for (const std::string &entry : options.entries)
      request.entries.append(request.entries.empty() ? "" : ",").append(entry);
    for (const auto &[name, extent] : options.dims)
      request.dims.append(request.dims.empty() ? "" : ",")
          .append(name)
          .append("=")
          .append(std::to_string(extent));
    return request;
  }

  std::shared_ptr<const detail::PackageFile> file_;
};

/// The symbols of a text and their numbers: `vocab.txt` of a checkpoint. Immutable; copies are
/// references; any number of threads may use one.
class Vocabulary {
public:
  /// Status::bad_file.
  static Result<Vocabulary> try_open(const std::string &path) noexcept {
    return detail::attempt([&]() -> Result<Vocabulary> {
      lstmc_vocabulary *opened = nullptr;
      const auto status = lstmc_vocabulary_open(path.c_str(), &opened);
      std::shared_ptr<const lstmc_vocabulary> handle(opened, [](const lstmc_vocabulary *v) {
        lstmc_vocabulary_close(const_cast<lstmc_vocabulary *>(v));
      });
      if (status != LSTMC_OK)
        return Error::last();
      return Vocabulary(std::move(handle));
    });
  }
#if LSTMC_EXCEPTIONS
  static Vocabulary open(const std::string &path) { return try_open(path).value(); }
#endif

  /// One that is part of something else, as of Data.
  static Vocabulary of(std::shared_ptr<const lstmc_vocabulary> handle) noexcept {
    return Vocabulary(std::move(handle));
  }
  /// For functions of the C interface.
  const lstmc_vocabulary *handle() const noexcept { return handle_.get(); }

  /// Number of symbols.
  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(lstmc_vocabulary_size(handle_.get()));
  }
  std::optional<std::int32_t> find(std::string_view symbol) const noexcept {
    const std::int32_t id = lstmc_vocabulary_find(handle_.get(), symbol.data(), symbol.size());
    return id < 0 ? std::nullopt : std::optional(id);
  }
  /// "" for a number that there is not. Valid as long as this or a copy of it.
  std::string_view symbol(std::int32_t id) const noexcept {
    std::size_t size = 0;
    const char *text = lstmc_vocabulary_symbol(handle_.get(), id, &size);
    return text ? std::string_view(text, size) : std::string_view();
  }

private:
  explicit Vocabulary(std::shared_ptr<const lstmc_vocabulary> handle) noexcept
      : handle_(std::move(handle)) {}

  std::shared_ptr<const lstmc_vocabulary> handle_;
};

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
