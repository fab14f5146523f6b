#include "gateway/core/pch.hpp"
