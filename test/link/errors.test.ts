/** Tests that errors which are kept for long keep no other objects alive. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { BackpressureError, DeliveryError, MessageSizeError } from "../../runtime/link/errors.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

class Link {
  readonly memory = new Uint8Array(1024);

  end(): DeliveryError {
    return new DeliveryError("peer-down", "it has ended", { cause: this.broken() });
  }

  broken(): Error {
    return new Error("the connection broke", { cause: this.refused() });
  }

  refused(): Error {
    return new Error("it was refused");
  }
}

test("a stored DeliveryError does not keep the objects of its call stack alive", async () => {
  let link: Link | undefined = new Link();
  const reference = new WeakRef(link);
  const error = link.end();
  link = undefined;
  // A new WeakRef keeps its object alive until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(reference.deref()).toBe(undefined);
  expect([error.message, (error.cause as Error).message]).toEqual(["it has ended", "the connection broke"]);
  expect(new Error("others have stacks").stack).toMatch(/^ +at /m);
});

test("errors of sending have names and causes but no stack trace, and other errors keep theirs", () => {
  const cause = new Error("because");
  const delivery = new DeliveryError("stopped", "it has stopped", { cause });
  expect([delivery.name, delivery.reason, delivery.message, delivery.cause]).toEqual([
    "DeliveryError",
    "stopped",
    "it has stopped",
    cause,
  ]);
  expect([new BackpressureError("x").name, new MessageSizeError("x").name]).toEqual([
    "BackpressureError",
    "MessageSizeError",
  ]);
  expect(new MessageSizeError("x")).toBeInstanceOf(RangeError);
  expect([delivery.stack, new DeliveryError("closed", "x").cause]).toEqual([
    "DeliveryError: it has stopped",
    undefined,
  ]);
  expect(new Error("others").stack).toContain("\n    at ");
});
