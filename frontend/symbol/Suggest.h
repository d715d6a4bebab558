// "Did you mean", which is executor/base's, by the name that frontends include.
#pragma once

#include "executor/base/Suggest.h"
