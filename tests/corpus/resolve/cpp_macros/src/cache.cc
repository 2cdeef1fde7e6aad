#include "../include/cache.h"
namespace shop {
Cache* Cache::Make() { //! Cache
  return new Table; //! Table
}
int Table::Look(int key) { //! Table
  return count_[key] + lock_; //! Table.count_; Table.lock_
}
int Table::Count() const { //! Table
  return lock_; //! Table.lock_
}
int Total(const Table& table) { //! Table
  return table.Count(); //! Table.Count
}
namespace {
class Other {
 public:
  int Count() const { return count_; }

 private:
  int count_;
};
int Use(Cache* cache, const Other& other) { //! Cache
  Table* table = new Table; //! Table
  return cache->Look(1) + table->Look(2) + other.Count(); //! Cache.Look  //! Table.Look
}
}  // namespace
}  // namespace shop
