#include "store.h"

using shop::Options; //! shop.Options
using shop::Store; //! shop.Store

struct api_store_t {
  Store* rep; //! shop.Store
  Options options; //! shop.Options
};

int api_count(api_store_t* store) {
  return store->rep->Count() + store->options.limit; //! shop.Store.Count; shop.Options.limit
}
