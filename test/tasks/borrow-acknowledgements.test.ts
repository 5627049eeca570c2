/** Tests of borrows that owners have not acknowledged: who passes a reference on waits for them. */
import { expect, test } from "vitest";
import { BorrowAcknowledgements } from "../../runtime/tasks/refs/borrow-acknowledgements.js";

test("borrows are awaited until their owners have answered", async () => {
  const acknowledgements = new BorrowAcknowledgements();
  expect(acknowledgements.until()).toBeUndefined();
  const first = acknowledgements.add(1n);
  let isKnown = false;
  const known = acknowledgements.until()!.then(() => {
    isKnown = true;
  });
  // A later borrow does not count.
  acknowledgements.add(2n);
  await Promise.resolve();
  expect(isKnown).toBe(false);
  first();
  await known;
  expect(isKnown).toBe(true);
});

test("a process that gets all messages in order is not waited for", () => {
  const acknowledgements = new BorrowAcknowledgements();
  acknowledgements.add(1n);
  expect(acknowledgements.until(1n)).toBeUndefined();
  expect(acknowledgements.until(2n)).toBeInstanceOf(Promise);
});
