#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

CommonBlocks::CommonBlocks(std::shared_ptr<CommonMemory> memory, Bytes bytes)
    : memory_(std::move(memory)), own_(CommonMemory::no_place) {
  contents_.reserve(memory_->neighbour_count());
  places_.reserve(memory_->neighbour_count());
  own_ = memory_->take(bytes);
}

CommonBlocks::~CommonBlocks() {
  if (are_connected())
    memory_->leave(places_, own_);
  else if (own_ != CommonMemory::no_place)
    memory_->give_back(own_);
}

void CommonBlocks::connect(std::span<const Place> places) noexcept {
  places_.assign(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) contents_.push_back(content(memory_->at(i, places[i])));
}

}  // namespace steadfold::transport
