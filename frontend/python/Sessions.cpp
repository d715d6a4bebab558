#include "frontend/python/Sessions.h"

#include <unistd.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/base/Numeric.h"
#include "executor/data/Outside.h"
#include "executor/data/SafeTensors.h"
#include "executor/session/Dependents.h"
#include "executor/session/Values.h"
#include "frontend/bind/Bind.h"
#include "frontend/python/Drawing.h"
#include "frontend/python/Gil.h"
#include "frontend/python/Signals.h"

namespace nb = nanobind;

namespace lstmc::python {

PythonSession::PythonSession(const Compiled &compiled, const GivenFields &given,
                             const std::vector<const Compiled *> &neighbours)
    : process_(::getpid()) {
  cli::Options options = valueOf(optionsOf("run", given));
  std::vector<package::Package::Pointer> packages;
  for (const Compiled *neighbour : neighbours)
    packages.push_back(neighbour->model.package);
  // The devices that a network was compiled for are its own, unless others are named here.
  cli::Model package;
  package.path = compiled.model.path;
  package.package = compiled.model.package;
  package.fit = compiled.model.fit;
  const bool named = options.devices.given() && compiled.model.compiled;
  auto opened = [&] {
    GilReleased released;
    return cli::openSession(named ? package : compiled.model, options, {}, Engine::Fast,
                            std::move(packages));
  }();
  session_ = valueOf(std::move(opened));
}

PythonSession::PythonSession(std::unique_ptr<Session> session)
    : session_(std::move(session)), process_(::getpid()) {}

PythonSession PythonSession::beside(const Compiled &neighbour, const GivenFields &given) const {
  cli::Options options = valueOf(optionsOf("run", given));
  return PythonSession(valueOf(cli::openBeside(get(), neighbour.model, options)));
}

PythonSession::~PythonSession() {
  if (::getpid() != process_)
    (void)session_.release(); // its end would wait for threads that are not here
}

Session &PythonSession::get() const {
  if (::getpid() != process_)
    throw Failure(fail(ErrorCode::E0001,
                       "this session was made before fork(), which takes none of its "
                       "threads along; make a session after it"));
  return *session_;
}

Failure PythonSession::failureOf(const Error &error) const {
  if (const Diagnostic *fault = session_->fault(); fault && error.code == ErrorCode::E0701)
    return Failure(Diagnostics{*fault});
  return Failure(error);
}

void PythonSession::run(const std::string &entry, bool mainThread) {
  perform(mainThread, [&](Session &session, auto &) { return session.run(entry); });
}

void PythonSession::perform(bool mainThread,
                            const std::function<Status(Session &, const Interruptible &)> &work) {
  Session &session = get();
  int signal = 0;
  Status status = [&] {
    GilReleased released;
    std::lock_guard lock(*mutex_);
    Interruptible interruptible(mainThread);
    Status ran = work(session, interruptible);
    signal = interruptible.end();
    return ran;
  }();
  raiseSignal(signal);
  if (!status.ok())
    throw failureOf(status.error());
}

//===---- bindings ----------------------------------------------------------------------------===//

/// A view that keeps the session.
static nb::object view(nb::handle self, Result<Tensor> tensor) {
  return viewOf(valueOf(std::move(tensor)), self);
}
static Session &sessionOf(nb::handle self) { return nb::cast<PythonSession &>(self).get(); }

/// E0604 for a value that is out of the range of its input, as `-i` says it.
static void checkRange(const PythonSession &session, const std::string &entry,
                       const std::string &name) {
  const package::PackageData &data = session.get().package().data();
  Tensor tensor = valueOf(session.get().input(entry, name));
  for (const package::Entry &each : data.entries)
    for (const package::Binding &binding : each.inputs)
      if (each.name == entry && binding.name == name && binding.range && tensor.dense())
        if (std::optional<int64_t> at = data::firstOutside(tensor.as<uint8_t>(), tensor.dtype,
                                                           tensor.elements(), *binding.range))
          throw Failure(fail(ErrorCode::E0604, "input \"{}\" element {}: found {}, want {}", name,
                             *at, readElement<double>(tensor.data, tensor.dtype, *at),
                             binding.range->text()));
}

static void setMissing(const PythonSession &session, const std::string &entry,
                       const std::string &name) {
  for (const package::Entry &each : session.get().package().data().entries)
    for (const package::Binding &binding : each.inputs)
      if (each.name == entry && binding.name == name)
        session::setMissing(valueOf(session.get().input(entry, name)), binding.range);
}

static void saveParameters(const PythonSession &session, const std::string &path, bool force) {
  std::vector<data::NamedTensor> tensors;
  for (const package::Parameter &parameter : session.get().package().data().parameters)
    tensors.push_back({parameter.name, valueOf(session.get().parameter(parameter.name))});
  check(data::writeSafeTensors(path, tensors,
                               force ? OutputFile::Existing::Replace : OutputFile::Existing::Keep));
}

/// Bytes of a session beside code: its arenas, and what is made of each launch, as measured.
static uint64_t bytesHeld(const PythonSession &session) {
  static constexpr uint64_t kOfLaunch = 8 << 10;
  uint64_t bytes = 0;
  for (const DevicePeak &peak : session.get().peaks())
    bytes += peak.plannedBytes + peak.plannedOfHost;
  for (const package::Entry &entry : session.get().package().data().entries)
    for (const package::DeviceProgram &program : entry.programs)
      bytes += program.launches.size() * kOfLaunch;
  return bytes;
}

/// (parameter, slot) of all states that the optimizer keeps.
static std::vector<std::pair<std::string, std::string>> slotsOf(const PythonSession &session) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const package::Parameter &parameter : session.get().package().data().parameters)
    for (const package::Slot &slot : parameter.slots)
      names.emplace_back(parameter.name, slot.name);
  return names;
}

/// MXNet's bind: the drawing compiled for the first CPU, with memory. With the optimizer "none",
/// `step` gives the gradients and changes nothing.
static PythonSession bindDrawing(Drawing &drawing, const std::vector<std::string> &entries,
                                 const std::string &optimizer, int threads) {
  symbol::BindOptions options;
  options.entries = entries;
  options.optimizer = optimizer;
  options.threads = threads;
  std::unique_ptr<symbol::Graph> graph = drawing.take();
  Checked<std::unique_ptr<Session>> bound =
      withCompiler([&] { return symbol::bind(*graph, options); });
  return PythonSession(valueOf(std::move(bound)));
}

void addSessions(nb::module_ &module) {
  module.def("bind", &bindDrawing, nb::arg("drawing"), nb::arg("entries"), nb::arg("optimizer"),
             nb::arg("threads"));
  nb::class_<PythonSession>(module, "Session", "A package with memory, weights and states.")
      .def(nb::init<const Compiled &, const GivenFields &, const std::vector<const Compiled *> &>())
      .def("__reduce__", &refusePickle)
      .def("beside", &PythonSession::beside, nb::keep_alive<0, 1>())
      .def("entries",
           [](const PythonSession &session) { return entriesOf(session.get().package().data()); })
      .def("bytes_held", &bytesHeld)
      .def("check_process", [](const PythonSession &session) { (void)session.get(); })
      .def("run", &PythonSession::run, nb::arg("entry"), nb::arg("main_thread"))
      .def("check_range", &checkRange)
      .def("set_missing", &setMissing)
      .def("dependents",
           [](const PythonSession &session, const std::string &entry,
              const std::vector<std::string> &inputs) {
             const package::Package &package = session.get().package();
             const size_t at = package.findEntry(entry).value();
             return session::dependents(package.data(), package.data().entries[at], inputs);
           })
      .def("save_parameters", &saveParameters)
      .def("input",
           [](nb::handle self, const std::string &entry, const std::string &name) {
             return view(self, sessionOf(self).input(entry, name));
           })
      .def("output",
           [](nb::handle self, const std::string &entry, const std::string &name) {
             return view(self, sessionOf(self).output(entry, name));
           })
      .def("parameter",
           [](nb::handle self, const std::string &name) {
             return view(self, sessionOf(self).parameter(name));
           })
      .def("state", [](nb::handle self,
                       const std::string &name) { return view(self, sessionOf(self).state(name)); })
      .def("set_parameter",
           [](PythonSession &session, const std::string &name, const HostArray &array) {
             check(session.get().setParameter(name, tensorOf(array)));
           })
      .def("set_state",
           [](PythonSession &session, const std::string &name, const HostArray &array) {
             check(session.get().setState(name, tensorOf(array)));
           })
      .def("slots", &slotsOf)
      .def("slot",
           [](nb::handle self, const std::string &parameter, const std::string &slot) {
             return view(self, sessionOf(self).slot(parameter, slot));
           })
      .def("set_slot",
           [](PythonSession &session, const std::string &parameter, const std::string &slot,
              const HostArray &array) {
             check(session.get().setSlot(parameter, slot, tensorOf(array)));
           })
      .def("set_scalar", [](PythonSession &session, const std::string &name,
                            int64_t value) { session.get().setScalar(name, value); })
      .def("set_scalar", [](PythonSession &session, const std::string &name,
                            double value) { session.get().setScalar(name, value); })
      .def("reset_states", [](PythonSession &session) { session.get().resetStates(); })
      .def("weights_hash", [](PythonSession &session) {
        return fmt::format("{:016x}", session.get().weightsHash());
      });
}

} // namespace lstmc::python
