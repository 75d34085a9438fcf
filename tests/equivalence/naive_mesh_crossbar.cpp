#include <algorithm>

#include "tests/equivalence/naive_mesh.h"

namespace warpline::test {

void NaiveMesh::tick_crossbar(Cycle c) {
  send_requests_on(c);
  send_responses_on(c);
}

/// For each server: the first client in turn whose head is for it. One that goes everywhere stays the head
/// until its last copy has left; any other gives way to the next head in the next cycle.
void NaiveMesh::send_requests_on(Cycle c) {
  Row& above = rows_[crossbar_stage_ - 1];
  Row& below = rows_[crossbar_stage_];
  std::vector<bool> gave(shape_.clients);
  for (unsigned server = 0; server < shape_.servers; ++server) {
    if (!below[server].down.can_send()) continue;
    for (unsigned n = 0; n < shape_.clients; ++n) {
      const unsigned client = (down_turn_[server] + n) % shape_.clients;
      NaiveChannel& in = above[client].down;
      if (gave[client] || !in.can_pop()) continue;
      const NaiveMessage head = in.front();
      if (head.everywhere ? copied_[client][server] : head.server != server) continue;
      below[server].down.send(c, head);
      down_turn_[server] = (client + 1) % shape_.clients;
      std::vector<bool>& copied = copied_[client];
      copied[server] = true;
      if (!head.everywhere || std::count(copied.begin(), copied.end(), true) == shape_.servers) {
        in.pop(c);
        gave[client] = true;
        copied.assign(shape_.servers, false);
      }
      break;
    }
  }
}

/// Answers to what went everywhere need no output and are taken as they come. Returns which servers gave one.
std::vector<bool> NaiveMesh::gather_answers_from_everywhere(Cycle c) {
  std::vector<bool> gave(shape_.servers);
  for (unsigned server = 0; server < shape_.servers; ++server) {
    NaiveChannel& in = rows_[crossbar_stage_][server].up;
    if (!in.can_pop() || !in.front().everywhere) continue;
    gave[server] = true;
    const NaiveMessage answer = in.pop(c);
    std::vector<Everywhere>& gathering = gathering_[answer.client];
    auto e = std::find_if(gathering.begin(), gathering.end(),
                          [&answer](const Everywhere& x) { return x.id == answer.id; });
    if (e == gathering.end()) e = gathering.insert(gathering.end(), {answer.id, 0});
    if (++e->answers < shape_.servers) continue;
    finished_[answer.client].push_back(answer);
    gathering.erase(e);
  }
  return gave;
}

/// For each client: the first server in turn whose head is for it, and last in the circle what all have
/// answered.
void NaiveMesh::send_responses_on(Cycle c) {
  std::vector<bool> gave = gather_answers_from_everywhere(c);
  Row& above = rows_[crossbar_stage_ - 1];
  Row& below = rows_[crossbar_stage_];
  for (unsigned client = 0; client < shape_.clients; ++client) {
    NaiveChannel& out = above[client].up;
    if (!out.can_send()) continue;
    for (unsigned n = 0; n <= shape_.servers; ++n) {
      const unsigned input = (up_turn_[client] + n) % (shape_.servers + 1);
      if (input == shape_.servers) {
        if (finished_[client].empty()) continue;
        out.send(c, finished_[client].front());
        finished_[client].pop_front();
      } else {
        NaiveChannel& in = below[input].up;
        if (gave[input] || !in.can_pop() || in.front().everywhere || in.front().client != client) continue;
        gave[input] = true;
        out.send(c, in.pop(c));
      }
      up_turn_[client] = (input + 1) % (shape_.servers + 1);
      break;
    }
  }
}

}  // namespace warpline::test
