/* The groups of ranks, names and memory of steadfold.f90. Cost: that of the functions in C. */
#include "descriptors.h"
#include "steadfold/steadfold_names.h"

void sf_fortran_barrier(Argument comm, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) status = sf_group_barrier(group);
  settle(status, comm, ierr);
}

/* Finds the indices of this rank's rows in rank order. Elements count from 1, and `last` is the last element. */
void sf_fortran_rank_order(const int64_t* rows, Argument comm, int64_t* first, int64_t* last, int64_t* element_count,
                           int* ierr) {
  sf_group* group;
  sf_interval mine = {0, 0};
  uint64_t count = 0;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) {
    status = require_rows(*rows);
    status = status == SF_OK ? sf_group_rank_order((uint64_t)*rows, group, &mine, &count) : tell(group, status);
  }
  if (status == SF_OK) {
    *first = (int64_t)mine.begin + 1;
    *last = (int64_t)mine.end;
    if (element_count != NULL) *element_count = (int64_t)count;
  }
  settle(status, comm, ierr);
}

/* Makes a type(sf_group) from a communicator. The variable holds the communicator, not its group, which ends with the
 * communicator. */
void sf_fortran_group_of(Argument comm, Handle* group, int* ierr) {
  sf_group* found;
  const sf_status status = find_group(comm, &found);
  if (status == SF_OK)
    *group = is_communicator(comm) ? handle_of_communicator(communicator(comm)) : *(const Handle*)comm->base_addr;
  settle(status, comm, ierr);
}

void sf_fortran_progress_thread(Argument comm, const int* on, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) status = sf_group_progress_thread(group, *on);
  settle(status, comm, ierr);
}

/* Returns the number of this rank. Returns -1 if `comm` is not a group; the error text gives the reason. */
int sf_fortran_group_rank(Argument comm) {
  sf_group* group;
  return find_group(comm, &group) == SF_OK ? sf_group_rank(group) : -1;
}
int sf_fortran_group_size(Argument comm) {
  sf_group* group;
  return find_group(comm, &group) == SF_OK ? sf_group_size(group) : -1;
}
const char* sf_fortran_group_transport(Argument comm) {
  sf_group* group;
  return find_group(comm, &group) == SF_OK ? sf_group_transport(group) : "";
}

/* --- names; Fortran passes texts with their lengths -------------------------------------------------------------- */

/* Copies a text without the blanks at its end. */
static const char* text_of(Argument text, char* room, size_t size) {
  size_t length = text->elem_len;
  while (length > 0 && ((const char*)text->base_addr)[length - 1] == ' ') --length;
  if (length >= size) return NULL;
  memcpy(room, text->base_addr, length);
  room[length] = '\0';
  return room;
}

static const char* or_nothing(const char* text) { return text == NULL ? "" : text; }

int sf_fortran_list_size(const int* list) { return (int)sf_list_size((sf_list)*list); }

const char* sf_fortran_list_name(const int* list, const int* entry) {
  return or_nothing(sf_list_name((sf_list)*list, (size_t)*entry - 1));
}

const char* sf_fortran_list_text(const int* list, const int* entry, Argument heading) {
  char room[64];
  const char* const text = text_of(heading, room, sizeof room);
  return or_nothing(text == NULL ? NULL : sf_list_text((sf_list)*list, (size_t)*entry - 1, text));
}

void sf_fortran_list_find(const int* list, Argument name, int* entry, int* ierr) {
  char room[200];
  size_t found = 0;
  const char* const text = text_of(name, room, sizeof room);
  const sf_status status = text == NULL ? wrong("the name is too long (every name is shorter), see sf_list_name")
                                        : sf_list_find((sf_list)*list, text, &found);
  if (status == SF_OK) *entry = (int)found + 1;
  settle(status, NULL, ierr);
}
