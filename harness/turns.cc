#include "harness/turns.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>

#include "harness/measure.h"

namespace specbench::harness {
namespace {

// Longer than a worker of the thread pool spins for its next task.
constexpr auto kSettle = std::chrono::milliseconds(10);

// Both ends of two pipes: one says "idle", the other "your turn".
struct TurnPipes {
  int idle[2] = {-1, -1};
  int turn[2] = {-1, -1};
  TurnPipes() {
    if (::pipe2(idle, O_CLOEXEC) != 0 || ::pipe2(turn, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe could be made: too many open files");
  }
  ~TurnPipes() {
    for (const int file : {idle[0], idle[1], turn[0], turn[1]})
      if (file >= 0) ::close(file);
  }
  TurnPipes(const TurnPipes&) = delete;
  TurnPipes& operator=(const TurnPipes&) = delete;
};

// One process, run by a thread of its own.
class Player {
 public:
  Player(const TurnWords& words, std::chrono::milliseconds timeout, const std::atomic<bool>& stop)
      : thread_([this, words, timeout, &stop] {
          try {
            result_ = run_child(words(pipes_.idle[1], pipes_.turn[0]), timeout, stop,
                                {pipes_.idle[1], pipes_.turn[0]});
          } catch (...) {
            failure_ = std::current_exception();
          }
          has_ended_ = true;
          const char word = 'e';  // wakes is_waiting
          (void)!::write(pipes_.idle[1], &word, 1);
        }) {}
  ~Player() {
    if (thread_.joinable()) thread_.join();
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // Until it waits for its turn (true) or has ended (false).
  bool is_waiting() {
    // Blocks: a watcher that wakes up while a process is timed would be the noise it watches for.
    char word = 0;
    while (!has_ended_ && ::read(pipes_.idle[0], &word, 1) < 0 && errno == EINTR) {
    }
    return !has_ended_ && word == 'w';
  }

  void give_turn() {
    const char word = 't';
    (void)!::write(pipes_.turn[1], &word, 1);
  }

  ChildResult end() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }

 private:
  TurnPipes pipes_;
  std::atomic<bool> has_ended_{false};
  ChildResult result_;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

void take_turn(int wait_file, int turn_file) {
  std::this_thread::sleep_for(kSettle);
  const char word = 'w';
  char answer = 0;
  ssize_t n = ::write(wait_file, &word, 1);
  if (n == 1) do
      n = ::read(turn_file, &answer, 1);
    while (n < 0 && errno == EINTR);
  if (n != 1) throw std::runtime_error("there is nobody to take turns with: the gate has ended");
}

std::array<ChildResult, 2> run_in_turns(const std::array<TurnWords, 2>& words, std::uint64_t seed,
                                        std::chrono::milliseconds timeout,
                                        const std::atomic<bool>& stop) {
  std::array<std::unique_ptr<Player>, 2> players;
  for (std::size_t i = 0; i < 2; ++i)
    players[i] = std::make_unique<Player>(words[i], timeout, stop);
  std::array<bool, 2> waits{};
  for (std::size_t i = 0; i < 2; ++i) waits[i] = players[i]->is_waiting();
  for (int pair = 0; waits[0] || waits[1]; ++pair) {
    for (const int who : arm_order(seed, false, pair, 0, 2)) {
      const auto i = static_cast<std::size_t>(who);
      if (!waits[i]) continue;
      players[i]->give_turn();
      waits[i] = players[i]->is_waiting();
    }
  }
  return {players[0]->end(), players[1]->end()};
}

}  // namespace specbench::harness
