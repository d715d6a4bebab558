// All of the compiler from C++: network.hpp, which opens, compiles and draws networks, and net.hpp,
// which builds them. Linked with lstmc::compiler and lstmc::runtime, or
// $(pkg-config --cflags --libs lstmc-compiler).
#ifndef LSTMC_COMPILE_HPP
#define LSTMC_COMPILE_HPP

#include <lstmc/net.hpp>
#include <lstmc/network.hpp>
#if LSTMC_EXCEPTIONS
#include <lstmc/train.hpp>
#endif

#endif
