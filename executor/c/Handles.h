// The types of the handles that lstmc.h declares.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "executor/c/include/lstmc/lstmc.h"
#include "executor/data/Vocabulary.h"
#include "executor/package/Package.h"
#include "executor/session/Session.h"

struct lstmc_package {
  lstmc::package::Package::Pointer package;
};

struct lstmc_session {
  std::unique_ptr<lstmc::Session> session;
  void (*log)(void *user, const char *message) = nullptr;
  void *user = nullptr;
  /// Inputs of entries that somebody has asked for: all others were never given.
  std::set<std::pair<std::string, std::string>> asked = {};
  bool shares = false; ///< its weights, so that it cannot train
};

struct lstmc_vocabulary {
  lstmc::data::Vocabulary vocabulary;
};
