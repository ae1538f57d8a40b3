/* The table of handles: chunks of slots, each twice as long as the one before, which never move. A slot whose object
 * has ended is used again with the next number. */
#include "handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "descriptors.h"

enum { slot_bits = 24 };

typedef struct Slot {
  _Atomic(Handle) handle; /* handle of the slot's object; 0 if there is no object */
  void* object;
  Kind kind;
  uint32_t next_free; /* number of the next free slot; 0 for the last slot */
  int64_t use;        /* number of uses of the slot so far */
} Slot;

/* Chunk k has slots 2^k to 2^(k+1) - 1; there is no slot 0. */
static _Atomic(Slot*) chunks[slot_bits];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slot_count, first_free; /* used only while the lock is held */

static uint32_t chunk_of(uint32_t slot) { return 31 - (uint32_t)__builtin_clz(slot); }

static Slot* slot_at(uint32_t slot) {
  const uint32_t k = chunk_of(slot);
  Slot* const chunk = atomic_load_explicit(&chunks[k], memory_order_acquire);
  return chunk == NULL ? NULL : &chunk[slot - (1u << k)];
}

/* Takes a free slot. The caller must hold the lock. Returns 0 if there is no memory. */
static uint32_t take_slot(void) {
  const uint32_t slot = first_free != 0 ? first_free : slot_count + 1;
  const uint32_t k = chunk_of(slot);
  if (first_free != 0) {
    first_free = slot_at(slot)->next_free;
    return slot;
  }
  if (k >= slot_bits) return 0;
  if (slot_at(slot) == NULL) atomic_store(&chunks[k], calloc((size_t)1 << k, sizeof(Slot)));
  if (slot_at(slot) == NULL) return 0;
  return ++slot_count;
}

Handle make_handle(Kind kind, void* object) {
  Handle handle = 0;
  uint32_t slot;
  pthread_mutex_lock(&lock);
  slot = take_slot();
  if (slot != 0) {
    Slot* const own = slot_at(slot);
    handle = (++own->use << slot_bits) | slot;
    own->object = object;
    own->kind = kind;
    atomic_store_explicit(&own->handle, handle, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  if (handle == 0) wrong("no memory for a handle (out of memory, or 2^24 handles are in use), free some objects");
  return handle;
}

/* Finds the slot of a handle; NULL if the handle has no object. */
static Slot* find(Handle handle, Kind kind) {
  const uint32_t slot = (uint32_t)(handle & ((1 << slot_bits) - 1));
  Slot* own;
  if (handle <= 0 || slot == 0) return NULL;
  own = slot_at(slot);
  if (own == NULL || atomic_load_explicit(&own->handle, memory_order_acquire) != handle) return NULL;
  return own->kind == kind ? own : NULL;
}

void* object_of(Handle handle, Kind kind) {
  const Slot* const own = find(handle, kind);
  return own == NULL ? NULL : own->object;
}

void* end_handle(Handle* handle, Kind kind) {
  const Handle ended = *handle;
  void* object = NULL;
  Slot* own;
  *handle = 0;
  pthread_mutex_lock(&lock);
  own = find(ended, kind);
  if (own != NULL) {
    object = own->object;
    atomic_store(&own->handle, 0);
    own->next_free = first_free;
    first_free = (uint32_t)(ended & ((1 << slot_bits) - 1));
  }
  pthread_mutex_unlock(&lock);
  return object;
}

sf_status no_object(Handle handle, Kind kind, const char* if_empty) {
  static const char* const names[] = {"plan", "team", "group", "request", "layout"};
  if (handle == 0) return wrong(if_empty);
  if (kind == kind_group)
    return wrong(
        "no group (its team was freed, or the variable is of another type), call sf_team_member of an existing team");
  return refuse(
      SF_INVALID_ARGUMENT,
      "the %s was freed or ended through another variable (a copy made by `=` is the same %s), make a new object",
      names[kind], names[kind]);
}
