// A long comment can stand before the first line of a header.
#pragma once

namespace shop {

class Store {
 public:
  explicit Store(int size);
  int Count() const;
};

struct Options {
  int limit;
};

}  // namespace shop
