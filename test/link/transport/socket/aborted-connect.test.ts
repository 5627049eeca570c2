/** Connections that are given up before the network has answered. */
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { HandshakeError } from "../../../../runtime/link/handshake/errors.js";
import { connectPipe } from "../../../../runtime/link/transport/socket/pipe.js";

/** Starts a connection whose socket never connects, and aborts it with `reason`. */
function abortConnection(reason: unknown): Promise<unknown> {
  const giveUp = new AbortController();
  const connecting = connectPipe(() => new Socket(), "connect", "tcp://10.0.0.7:7000", giveUp.signal);
  giveUp.abort(reason);
  return connecting.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a connection that the network does not answer in time can be attempted again", async () => {
  const error = await abortConnection(new HandshakeError("lost", "it did not answer within 2000 ms"));
  expect(error).toBeInstanceOf(HandshakeError);
  expect(error).toMatchObject({
    isTransient: true,
    message: "cannot connect to tcp://10.0.0.7:7000: it did not answer within 2000 ms",
  });
});

test("a connection that is aborted for another reason fails with the text of the reason", async () => {
  const error = await abortConnection(new Error("the mesh was stopped"));
  expect(error).not.toBeInstanceOf(HandshakeError);
  expect((error as Error).message).toBe("cannot connect to tcp://10.0.0.7:7000: the mesh was stopped");
});
