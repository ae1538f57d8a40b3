#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

CommonBlocks::CommonBlocks(std::shared_ptr<CommonMemory> memory, Bytes bytes)
    : memory_(std::move(memory)), own_(CommonMemory::no_block) {
  contents_.reserve(memory_->neighbour_count());
  blocks_.reserve(memory_->neighbour_count());
  own_ = memory_->take(bytes);
}

CommonBlocks::~CommonBlocks() {
  if (are_connected())
    memory_->leave(blocks_, own_);
  else if (own_ != CommonMemory::no_block)
    memory_->give_back(own_);
}

void CommonBlocks::connect(std::span<const BlockId> blocks) noexcept {
  blocks_.assign(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < blocks.size(); ++i) contents_.push_back(content(memory_->at(i, blocks[i])));
}

}  // namespace steadfold::transport
