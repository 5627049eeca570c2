/** Tests of what a publisher remembers of the programs that send messages to its mesh, and of the messages that it refuses. */
import { expect, test } from "vitest";
import { MessageSenders } from "../../../runtime/host/publish/message-senders.js";

const late = "the message has arrived after its sender had moved to another host";
const move = (sender: bigint, moves: number) => ({ publication: 1n, sender, moves });

test("a sender that moves learns the number of the last message that has arrived, from each sender on its own", () => {
  const senders = new MessageSenders();
  senders.received({ sender: 7n, sequence: 1, moves: 0 });
  // The sender has cancelled message 2 before it was sent.
  senders.received({ sender: 7n, sequence: 3, moves: 0 });
  senders.received({ sender: 8n, sequence: 1, moves: 0 });
  expect(senders.move(move(7n, 1))).toEqual({ isPublished: true, received: 3 });
  expect(senders.move(move(8n, 1))).toEqual({ isPublished: true, received: 1 });
  expect(senders.move(move(9n, 1))).toEqual({ isPublished: true, received: 0 });
});

test("messages through a host that the sender has left are refused, also before it has sent others", () => {
  const senders = new MessageSenders();
  senders.received({ sender: 7n, sequence: 1, moves: 0 });
  senders.move(move(7n, 2));
  // An earlier attempt to move, which arrives late.
  senders.move(move(7n, 1));
  expect(() => senders.received({ sender: 7n, sequence: 2, moves: 0 })).toThrow(late);
  expect(() => senders.received({ sender: 7n, sequence: 2, moves: 1 })).toThrow(late);
  senders.received({ sender: 7n, sequence: 2, moves: 2 });
  expect(senders.move(move(7n, 3))).toEqual({ isPublished: true, received: 2 });
  senders.move(move(9n, 1));
  expect(() => senders.received({ sender: 9n, sequence: 1, moves: 0 })).toThrow(late);
});

test("a sender that was forgotten does not learn a number, so that it repeats nothing", () => {
  const senders = new MessageSenders();
  for (let sender = 0n; sender <= 4096n; sender++) senders.received({ sender, sequence: 5, moves: 0 });
  expect(senders.move(move(0n, 1))).toEqual({ isPublished: true });
  expect(senders.move(move(1n, 1))).toEqual({ isPublished: true, received: 5 });
  // Its next message makes it known again.
  senders.received({ sender: 0n, sequence: 6, moves: 1 });
  expect(senders.move(move(0n, 2))).toEqual({ isPublished: true, received: 6 });
});
