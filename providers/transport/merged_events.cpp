#include "providers/transport/merged_events.hpp"

namespace sandgate {

template class MergedStreams<EventReader>;

}  // namespace sandgate
