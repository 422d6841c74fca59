/* liststore for C99: the operations of liststore/list_store.h, for C and other languages.
 *
 *   liststore_error error;
 *   liststore_store* store = NULL;
 *   if (liststore_open(NULL, &store, &error) != LISTSTORE_OK) fail(error.text);
 *   const liststore_bytes user = {"user", 4}, history = {"history", 7};
 *   liststore_create_feature(store, user, history, 86400, &error);
 *   ...
 *   liststore_close(store);
 *
 * docs/examples/list_store.c and list_store_ctypes.py are complete programs.
 *
 * Threads: every function may be called by any thread at any time, except that no other call may
 * use a handle while it is closed or destroyed, and that a result (liststore_items,
 * liststore_multi_items, liststore_view) belongs to one thread at a time.
 *
 * Errors: a function that can fail returns a status and, if `error` is not NULL, writes the reason
 * as a zero-terminated text, cut at 511 bytes; after LISTSTORE_OK the text is empty. A call
 * that fails changes nothing, unless its description says otherwise, or it is LISTSTORE_UNKNOWN of a
 * write: that is done, and the disk has not taken it so far. A pointer that is NULL and
 * must not be gives LISTSTORE_INVALID_ARGUMENT. No C++ exception leaves a function.
 *
 * Arguments are borrowed for the length of the call. The bounds of names, values and times are
 * those of list_ref.h, list_item.h and list_store.h. */
#ifndef LISTSTORE_LISTSTORE_H_
#define LISTSTORE_LISTSTORE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LISTSTORE_API __attribute__((visibility("default")))
#else
#define LISTSTORE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers do not change; more may be added. */
typedef int32_t liststore_status;
#define LISTSTORE_OK 0
#define LISTSTORE_UNKNOWN 2
#define LISTSTORE_INVALID_ARGUMENT 3
#define LISTSTORE_NOT_FOUND 5
#define LISTSTORE_ALREADY_EXISTS 6
#define LISTSTORE_PERMISSION_DENIED 7
#define LISTSTORE_RESOURCE_EXHAUSTED 8 /* the memory limit, or no space on the disk */
#define LISTSTORE_FAILED_PRECONDITION 9
#define LISTSTORE_INTERNAL 13
#define LISTSTORE_UNAVAILABLE 14
#define LISTSTORE_DATA_LOSS 15

typedef struct liststore_error {
  char text[512];
} liststore_error;

/* Any bytes; `data` may be NULL if `size` is 0. */
typedef struct liststore_bytes {
  const char* data;
  size_t size;
} liststore_bytes;

/* Names one list; see ListId. */
typedef struct liststore_list {
  liststore_bytes entity_type;
  liststore_bytes feature;
  liststore_bytes version;
  liststore_bytes entity_id;
} liststore_list;

typedef struct liststore_store liststore_store;
typedef struct liststore_clock liststore_clock;
typedef struct liststore_items liststore_items;
typedef struct liststore_multi_items liststore_multi_items;
typedef struct liststore_view liststore_view;

/* The version of the library, for example "0.1.0". */
LISTSTORE_API const char* liststore_version(void);

/* ---- A clock for tests, which stands still until it is moved ---- */

/* A clock at an instant in nanoseconds since the Unix epoch. Returns NULL if memory is exhausted.
 * Destroy it after the stores that use it. */
LISTSTORE_API liststore_clock* liststore_clock_create(uint64_t now_nanos);
LISTSTORE_API void liststore_clock_destroy(liststore_clock* clock); /* NULL: no effect */
LISTSTORE_API liststore_status liststore_clock_set(liststore_clock* clock, uint64_t now_nanos);
LISTSTORE_API liststore_status liststore_clock_advance(liststore_clock* clock, uint64_t nanos);
LISTSTORE_API uint64_t liststore_clock_now(const liststore_clock* clock); /* NULL: 0 */

/* ---- Stores ---- */

/* What happens at the memory limit; see MemoryPolicy. */
#define LISTSTORE_REJECT 0
#define LISTSTORE_EVICT 1

/* Why a list was evicted; see EvictionReason. */
#define LISTSTORE_EVICTED_FOR_MEMORY 0
#define LISTSTORE_EVICTED_BY_FORGET 1

/* Called for a list that was evicted, by the call that evicted it, with the number of items it
 * held; see Options::eviction_listener. `list` is valid for the call. May call the store. */
typedef void (*liststore_eviction_listener)(void* context, const liststore_list* list, size_t items,
                                            int32_t reason);

/* What is on the disk before a write is answered; see CommitLog. */
#define LISTSTORE_LOG_DEFAULT 0 /* LISTSTORE_LOG_OS */
#define LISTSTORE_LOG_OFF 1
#define LISTSTORE_LOG_OS 2
#define LISTSTORE_LOG_PERIODIC 3
#define LISTSTORE_LOG_SYNC 4

/* How snapshots are written; see SnapshotCompression. */
#define LISTSTORE_COMPRESSION_NONE 0
#define LISTSTORE_COMPRESSION_ZSTD 1

/* A line about what is kept, valid for the call. Must return soon and not call the store. */
typedef void (*liststore_line_listener)(void* context, liststore_bytes line);

/* See options.h. 0 and NULL stand for the defaults. `size` is the size of the structure as the
 * caller knows it, so that later versions can extend it: fields after it are taken as 0, and fields
 * that this library does not know must be 0. liststore_options_init(&options, sizeof options)
 * comes first. */
typedef struct liststore_options {
  size_t size;
  const liststore_clock* clock; /* must outlive the store; NULL: the system clock */
  const char* keyspace;         /* zero-terminated */
  int64_t default_ttl_seconds;
  uint64_t value_bytes_max;
  uint64_t memory_limit_bytes;
  uint32_t shards;
  uint32_t background_reclaim;   /* 1: starts threads; see Options */
  uint32_t memory_policy;        /* LISTSTORE_REJECT or LISTSTORE_EVICT */
  uint32_t lists_live_elsewhere; /* 1: with LISTSTORE_EVICT; see Options */
  liststore_eviction_listener on_evicted;
  void* on_evicted_context;
  const char* data_dir; /* zero-terminated; a directory where the store is kept; see Options */
  uint32_t commit_log;  /* LISTSTORE_LOG_...; with data_dir */
  uint32_t commit_log_period_ms;
  uint64_t commit_log_segment_bytes;
  /* In place of `clock`: with data_dir it is set to where it stood when the directory was last in
   * use, and liststore_move_clock keeps its moves. */
  liststore_clock* manual_clock;
  liststore_line_listener on_keeping; /* see Options::on_keeping */
  void* on_keeping_context;
  uint32_t snapshot_compression; /* LISTSTORE_COMPRESSION_... */
  uint32_t reserved;             /* 0 */
} liststore_options;

/* Writes the defaults into the first `size` bytes. NULL: no effect. */
LISTSTORE_API void liststore_options_init(liststore_options* options, size_t size);

/* Opens an empty store, or, with data_dir, one with what is there. `options` may be NULL. After an error
 * `*store` is NULL. */
LISTSTORE_API liststore_status liststore_open(const liststore_options* options,
                                              liststore_store** store, liststore_error* error);
/* Opens a store with the content of a file that liststore_save wrote; see saved_store.h. */
LISTSTORE_API liststore_status liststore_load(const liststore_options* options, const char* path,
                                              liststore_store** store, liststore_error* error);
/* Writes all content to a file, whole or not at all. With `sync` 1 the file survives a loss of
 * power when this returns. */
LISTSTORE_API liststore_status liststore_save(const liststore_store* store, const char* path,
                                              int32_t sync, liststore_error* error);
/* Writes everything to a new snapshot in data_dir, and drops what the log has from before it; see
 * ListStore::Snapshot. `info` may be NULL. */
typedef struct liststore_snapshot_info {
  size_t size; /* as the caller knows it; set before the call */
  uint64_t number;
  uint64_t partitions;
  uint64_t rows;
  uint64_t bytes;
  double seconds;
} liststore_snapshot_info;
LISTSTORE_API liststore_status liststore_snapshot(liststore_store* store,
                                                  liststore_snapshot_info* info,
                                                  liststore_error* error);
/* What was done before survives a loss of power, but with LISTSTORE_LOG_OFF. */
LISTSTORE_API liststore_status liststore_sync(liststore_store* store, liststore_error* error);
/* Moves manual_clock, and keeps where it stands. */
LISTSTORE_API liststore_status liststore_move_clock(liststore_store* store, uint64_t now_nanos,
                                                    liststore_error* error);
/* No other call may use the store meanwhile. NULL: no effect. */
LISTSTORE_API void liststore_close(liststore_store* store);

/* ---- Features ---- */

LISTSTORE_API liststore_status liststore_create_feature(liststore_store* store,
                                                        liststore_bytes entity_type,
                                                        liststore_bytes feature,
                                                        int64_t ttl_seconds,
                                                        liststore_error* error);
/* `ttl_seconds` 0: the version has the feature's TTL. */
LISTSTORE_API liststore_status liststore_create_feature_version(
    liststore_store* store, liststore_bytes entity_type, liststore_bytes feature,
    liststore_bytes version, int64_t ttl_seconds, liststore_error* error);
LISTSTORE_API liststore_status liststore_set_feature_ttl(liststore_store* store,
                                                         liststore_bytes entity_type,
                                                         liststore_bytes feature,
                                                         int64_t ttl_seconds,
                                                         liststore_error* error);
LISTSTORE_API liststore_status liststore_delete_feature(liststore_store* store,
                                                        liststore_bytes entity_type,
                                                        liststore_bytes feature,
                                                        liststore_error* error);
LISTSTORE_API liststore_status liststore_delete_feature_version(liststore_store* store,
                                                                liststore_bytes entity_type,
                                                                liststore_bytes feature,
                                                                liststore_bytes version,
                                                                liststore_error* error);

/* Changes the TTL of one version, which has its own from then on. */
LISTSTORE_API liststore_status liststore_set_feature_version_ttl(
    liststore_store* store, liststore_bytes entity_type, liststore_bytes feature,
    liststore_bytes version, int64_t ttl_seconds, liststore_error* error);

typedef struct liststore_feature_info {
  liststore_bytes entity_type;
  liststore_bytes feature;
  liststore_bytes version;
  int64_t ttl_seconds; /* the version's own, or else the feature's */
} liststore_feature_info;

/* Called for one after the other until it returns 0. The arguments are valid for the call. May call
 * the store. */
typedef int32_t (*liststore_feature_visitor)(void* context, const liststore_feature_info* version);
typedef int32_t (*liststore_list_visitor)(void* context, liststore_bytes entity_id);

/* Visits every version of every feature, sorted by name. */
LISTSTORE_API liststore_status liststore_for_each_feature(const liststore_store* store,
                                                          liststore_feature_visitor visit,
                                                          void* context, liststore_error* error);
/* Visits every list of a feature version that has a live item; see ListStore::ForEachList. */
LISTSTORE_API liststore_status liststore_for_each_list(
    const liststore_store* store, liststore_bytes entity_type, liststore_bytes feature,
    liststore_bytes version, liststore_list_visitor visit, void* context, liststore_error* error);

/* ---- Writes ---- */

typedef struct liststore_new_item {
  uint64_t timestamp_nanos;
  liststore_bytes value;
} liststore_new_item;

typedef struct liststore_add_result {
  size_t stored;
  size_t skipped_expired;
  /* Where the timestamp of an item that was skipped looks like seconds, milliseconds or microseconds
   * since 1970, not nanoseconds: says so. A literal; NULL where there is nothing to say. */
  const char* hint;
} liststore_add_result;

/* Items for one list of liststore_add_multi. */
typedef struct liststore_addition {
  liststore_list list;
  const liststore_new_item* items; /* may be NULL if item_count is 0 */
  size_t item_count;
} liststore_addition;

/* `result` may be NULL, here and below. */
LISTSTORE_API liststore_status liststore_add(liststore_store* store, const liststore_list* list,
                                             const liststore_new_item* items, size_t item_count,
                                             liststore_add_result* result, liststore_error* error);
LISTSTORE_API liststore_status liststore_add_multi(liststore_store* store,
                                                   const liststore_addition* additions,
                                                   size_t addition_count,
                                                   liststore_add_result* result,
                                                   liststore_error* error);
LISTSTORE_API liststore_status liststore_remove_value(liststore_store* store,
                                                      const liststore_list* list,
                                                      liststore_bytes value, size_t* removed,
                                                      liststore_error* error);
LISTSTORE_API liststore_status liststore_remove_all(liststore_store* store,
                                                    const liststore_list* list, size_t* removed,
                                                    liststore_error* error);

/* ---- Lists put whole: a cache in front of a slower store ----
 *
 *   liststore_get(cache, &list, NULL, items, &error);
 *   if (liststore_items_presence(items) != LISTSTORE_COMPLETE) {
 *     liststore_load_mark(cache, &list, &put.mark, &error);
 *     ... load the list from the slower store, then, with put.has_mark = 1 ...
 *     liststore_put(cache, &list, loaded, loaded_count, &put, NULL, &error);
 *   }
 *
 * docs/examples/near_cache_of_cql.py is a complete program. */

/* See PutListOptions. `size` as in liststore_options; begin with liststore_put_options_init. */
typedef struct liststore_put_options {
  size_t size;
  int64_t fresh_until_seconds; /* returned by reads; 0: always fresh */
  uint64_t mark;               /* of liststore_load_mark; used if has_mark is 1 */
  uint32_t has_mark;
  uint32_t unused;
} liststore_put_options;

LISTSTORE_API void liststore_put_options_init(liststore_put_options* options, size_t size);

/* Call this before a list is loaded: a put with the mark is refused if the list has changed since.
 */
LISTSTORE_API liststore_status liststore_load_mark(const liststore_store* store,
                                                   const liststore_list* list, uint64_t* mark,
                                                   liststore_error* error);
/* Replaces the whole content of the list, which is complete then. `*stored`: 0 if the put was
 * refused because of the mark. `stored` and `options` may be NULL. */
LISTSTORE_API liststore_status liststore_put(liststore_store* store, const liststore_list* list,
                                             const liststore_new_item* items, size_t item_count,
                                             const liststore_put_options* options, int32_t* stored,
                                             liststore_error* error);
/* Drops what the store holds of the list, which is absent then. `*held`: whether there was
 * anything; `held` may be NULL. */
LISTSTORE_API liststore_status liststore_forget(liststore_store* store, const liststore_list* list,
                                                int32_t* held, liststore_error* error);

/* ---- Reads ---- */

/* See GetOptions. `size` as in liststore_options; begin with liststore_get_options_init. */
typedef struct liststore_get_options {
  size_t size;
  uint64_t min_timestamp_nanos;
  uint64_t max_timestamp_nanos; /* exclusive; used if has_max is 1 */
  uint64_t limit;               /* at least 1 */
  uint32_t has_max;
  uint32_t with_expiry; /* 1: fills expires_at_seconds */
} liststore_get_options;

/* Writes the defaults: no bounds, limit 100. NULL: no effect. */
LISTSTORE_API void liststore_get_options_init(liststore_get_options* options, size_t size);

typedef struct liststore_item {
  uint64_t timestamp_nanos;
  liststore_bytes value; /* valid until the next read into the result */
  int64_t expires_at_seconds;
} liststore_item;

/* Results, to be used again from call to call. Returns NULL if memory is exhausted. */
LISTSTORE_API liststore_items* liststore_items_create(void);
LISTSTORE_API void liststore_items_destroy(liststore_items* items);      /* NULL: no effect */
LISTSTORE_API size_t liststore_items_size(const liststore_items* items); /* NULL: 0 */
/* Items are newest first. LISTSTORE_INVALID_ARGUMENT: there is no item `index`. */
LISTSTORE_API liststore_status liststore_items_at(const liststore_items* items, size_t index,
                                                  liststore_item* item);
/* The item key as CQL shows it, zero-terminated. LISTSTORE_INVALID_ARGUMENT: it does not fit. The
 * store's own keys have 44 characters. */
LISTSTORE_API liststore_status liststore_items_key(const liststore_items* items, size_t index,
                                                   char* key, size_t key_bytes);

/* `options` NULL: the newest 100 items. After an error `items` is empty. */
LISTSTORE_API liststore_status liststore_get(const liststore_store* store,
                                             const liststore_list* list,
                                             const liststore_get_options* options,
                                             liststore_items* items, liststore_error* error);

LISTSTORE_API liststore_multi_items* liststore_multi_items_create(void);
LISTSTORE_API void liststore_multi_items_destroy(liststore_multi_items* items);
/* The number of lists that were read, and the number of items of one of them. */
LISTSTORE_API size_t liststore_multi_items_lists(const liststore_multi_items* items);
LISTSTORE_API size_t liststore_multi_items_size(const liststore_multi_items* items, size_t list);
LISTSTORE_API liststore_status liststore_multi_items_at(const liststore_multi_items* items,
                                                        size_t list, size_t index,
                                                        liststore_item* item);
LISTSTORE_API liststore_status liststore_multi_get(const liststore_store* store,
                                                   const liststore_list* lists, size_t list_count,
                                                   const liststore_get_options* options,
                                                   liststore_multi_items* items,
                                                   liststore_error* error);
/* How much of the list the store held (see ListPresence), and until when it is fresh, as set when
 * it was put (0: always), at the last read into the result. */
#define LISTSTORE_ABSENT 0
#define LISTSTORE_PARTIAL 1
#define LISTSTORE_COMPLETE 2
LISTSTORE_API int32_t liststore_items_presence(const liststore_items* items);
LISTSTORE_API int64_t liststore_items_fresh_until(const liststore_items* items);
LISTSTORE_API int32_t liststore_multi_items_presence(const liststore_multi_items* items,
                                                     size_t list);
LISTSTORE_API int64_t liststore_multi_items_fresh_until(const liststore_multi_items* items,
                                                        size_t list);

/* A read without a copy: the items stay as they are until the view is released, destroyed or read
 * into again; see list_view.h. Destroy or release all views before the store is closed. */
LISTSTORE_API liststore_view* liststore_view_create(void);
LISTSTORE_API void liststore_view_destroy(liststore_view* view); /* NULL: no effect */
LISTSTORE_API void liststore_view_release(liststore_view* view);
LISTSTORE_API size_t liststore_view_size(const liststore_view* view);
LISTSTORE_API liststore_status liststore_view_at(const liststore_view* view, size_t index,
                                                 liststore_item* item);
LISTSTORE_API liststore_status liststore_view_list(const liststore_store* store,
                                                   const liststore_list* list,
                                                   const liststore_get_options* options,
                                                   liststore_view* view, liststore_error* error);

/* Counts the items within the bounds of `options`; the limit is ignored. */
LISTSTORE_API liststore_status liststore_count(const liststore_store* store,
                                               const liststore_list* list,
                                               const liststore_get_options* options, size_t* count,
                                               liststore_error* error);

/* ---- Housekeeping ---- */

/* See stats.h; sums over the tables. The caller sets `size`, the number of bytes to write. */
typedef struct liststore_stats {
  size_t size;
  uint64_t lists;
  uint64_t items;
  uint64_t expired_items;
  uint64_t live_bytes;
  uint64_t held_bytes;
  uint64_t memory_limit_bytes;
  uint64_t refused_writes;
  uint32_t shards;
  uint32_t unused;
  /* See CacheStats. */
  uint64_t hits;
  uint64_t partial_hits;
  uint64_t misses;
  uint64_t additions;
  uint64_t puts;
  uint64_t evictions;
  uint64_t evicted_items;
  uint64_t evicted_bytes;
  uint64_t forgotten;
} liststore_stats;

LISTSTORE_API liststore_status liststore_get_stats(const liststore_store* store,
                                                   liststore_stats* stats, liststore_error* error);
/* Reclaims memory with about `budget` units of work. `*done`: how many were done, 0 if there is
 * nothing to reclaim. */
LISTSTORE_API liststore_status liststore_reclaim(liststore_store* store, size_t budget,
                                                 size_t* done, liststore_error* error);
/* Another limit on memory, at least 1 MiB; see ListStore::SetMemoryLimit.
 * LISTSTORE_RESOURCE_EXHAUSTED: it is taken, and more is held for now. */
LISTSTORE_API liststore_status liststore_set_memory_limit(liststore_store* store, uint64_t bytes,
                                                          liststore_error* error);
/* The earliest second at which an item may expire; 0: no item will. */
LISTSTORE_API liststore_status liststore_next_expiry(const liststore_store* store, int64_t* seconds,
                                                     liststore_error* error);

#ifdef __cplusplus
}
#endif

#endif /* LISTSTORE_LISTSTORE_H_ */
