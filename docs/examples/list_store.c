/* What somebody read lately, in C: a clock that stands still, a store, a file. */
#include <stdio.h>
#include <string.h>

#include "liststore/liststore.h"

static liststore_bytes Text(const char* text) {
  liststore_bytes bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

static int Fail(const char* what, const liststore_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

static void Print(const liststore_items* items) {
  size_t i;
  for (i = 0; i < liststore_items_size(items); ++i) {
    liststore_item item;
    char key[64];
    if (liststore_items_at(items, i, &item) != LISTSTORE_OK) return;
    if (liststore_items_key(items, i, key, sizeof(key)) != LISTSTORE_OK) return;
    printf("%s %.*s\n", key, (int)item.value.size, item.value.data);
  }
}

int main(int argc, char** argv) {
  const uint64_t now = 1724949845000000000u;
  const char* const path = argc > 1 ? argv[1] : "lists.saved";
  liststore_clock* const clock = liststore_clock_create(now);
  liststore_items* const items = liststore_items_create();
  liststore_store* store = NULL;
  liststore_options options;
  liststore_list list;
  liststore_new_item added[2];
  liststore_error error;
  size_t removed = 0;

  liststore_options_init(&options, sizeof options);
  options.clock = clock;
  options.memory_limit_bytes = 64u << 20;
  if (liststore_open(&options, &store, &error) != LISTSTORE_OK) return Fail("open", &error);
  if (liststore_create_feature(store, Text("user"), Text("history"), 86400, &error) !=
      LISTSTORE_OK) {
    return Fail("create feature", &error);
  }

  memset(&list, 0, sizeof(list));
  list.entity_type = Text("user");
  list.feature = Text("history");
  list.entity_id = Text("17");
  added[0].timestamp_nanos = now - 2;
  added[0].value = Text("story-1");
  added[1].timestamp_nanos = now - 1;
  added[1].value = Text("story-2");
  if (liststore_add(store, &list, added, 2, NULL, &error) != LISTSTORE_OK) {
    return Fail("add", &error);
  }

  /* The process ends, another goes on. */
  if (liststore_save(store, path, 0, &error) != LISTSTORE_OK) return Fail("save", &error);
  liststore_close(store);
  if (liststore_load(&options, path, &store, &error) != LISTSTORE_OK) return Fail("load", &error);

  if (liststore_remove_value(store, &list, Text("story-1"), &removed, &error) != LISTSTORE_OK) {
    return Fail("remove", &error);
  }
  printf("%u removed\n", (unsigned)removed);
  if (liststore_get(store, &list, NULL, items, &error) != LISTSTORE_OK) return Fail("get", &error);
  Print(items);

  liststore_clock_advance(clock, 86400u * 1000000000ull);
  if (liststore_get(store, &list, NULL, items, &error) != LISTSTORE_OK) return Fail("get", &error);
  printf("%u left a day later\n", (unsigned)liststore_items_size(items));

  liststore_items_destroy(items);
  liststore_close(store);
  liststore_clock_destroy(clock);
  return 0;
}
