#include "tools/serve/file_limit.h"

#include <sys/resource.h>

namespace liststore {

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // refused: the lower one holds
}

}  // namespace liststore
