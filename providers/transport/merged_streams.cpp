#include "providers/transport/merged_streams.hpp"

namespace sandgate {

template class MergedStreams<EventReader>;

}  // namespace sandgate
