// Resettable: what starts again when the data of a server does.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_RESETTABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_RESETTABLE_H_

namespace liststore::instruments {

class Resettable {
 public:
  virtual ~Resettable() = default;
  // Forgets what has come up since the start. Called when the data is what it was, before the
  // statement that asked for it is answered; by the thread of any connection, one call at a time.
  // Does not call DataTable.
  virtual void Reset() = 0;
  // What it is now is what Reset goes back to, or no more. By default nothing is remembered.
  virtual void Mark() {}
  virtual void Forget() {}
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_RESETTABLE_H_
