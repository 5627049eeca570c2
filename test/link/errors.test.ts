/** Errors that are kept for long keep nothing else. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { DeliveryError } from "../../runtime/link/errors.js";

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

test("why something was not delivered is known for long, and what it ran on is not kept with it", async () => {
  let link: Link | undefined = new Link();
  const reference = new WeakRef(link);
  const error = link.end();
  link = undefined;
  // A reference that has been looked at is kept until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(reference.deref()).toBe(undefined);
  expect([error.message, (error.cause as Error).message]).toEqual(["it has ended", "the connection broke"]);
  expect(new Error("others have stacks").stack).toMatch(/^ +at /m);
});
