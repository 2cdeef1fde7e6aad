#define SHOP_EXPORT
#define GUARDED_BY(x)
namespace shop {
class SHOP_EXPORT Cache {
 public:
  virtual ~Cache();
  virtual int Look(int key) = 0;
  static Cache* Make(); //! Cache
};
class SHOP_EXPORT Table : public Cache { //! Cache
 public:
  int Look(int key) override;
  int Count() const;

 private:
  int lock_;
  int count_[4] GUARDED_BY(lock_); //! Table.lock_; GUARDED_BY
};
SHOP_EXPORT int Total(const Table& table); //! Table
}  // namespace shop
