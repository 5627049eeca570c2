/** The messages of exceptions from libtorch. */
#pragma once
#include <exception>
#include <string>

/** Returns the message of an exception, without the backtrace that libtorch adds. */
std::string ErrorText(const std::exception& error);
