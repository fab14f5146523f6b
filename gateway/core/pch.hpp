#pragma once
// Precompiled for every library of this project: headers that almost every file needs.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <nlohmann/json.hpp>

// Instantiated once, in json.cpp.
extern template class nlohmann::basic_json<>;
