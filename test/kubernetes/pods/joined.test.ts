/** Tests of questions that are joined. */
import { expect, test } from "vitest";
import { joined } from "../../../runtime/job/kubernetes/pods/joined.js";

test("those who ask while a question is under way share the next one, which begins after they asked", async () => {
  const asked: ((answer: string) => void)[] = [];
  const ask = joined(() => new Promise<string>((resolve) => asked.push(resolve)));
  const first = ask();
  const others = Promise.all([ask(), ask(), ask()]);
  expect(asked).toHaveLength(1);
  asked[0]!("old");
  expect(await first).toBe("old");
  await new Promise(setImmediate);
  expect(asked).toHaveLength(2);
  asked[1]!("new");
  expect(await others).toEqual(["new", "new", "new"]);
  await new Promise(setImmediate);
  const last = ask();
  expect(asked).toHaveLength(3);
  asked[2]!("last");
  expect(await last).toBe("last");
});

test("a question that fails is an error for those who asked it, and not for the next", async () => {
  let count = 0;
  const ask = joined(async () => {
    if (count++ === 0) throw new Error("away");
    return count;
  });
  const [first, second] = await Promise.allSettled([ask(), ask()]);
  expect(first).toMatchObject({ status: "rejected", reason: new Error("away") });
  expect(second).toEqual({ status: "fulfilled", value: 2 });
});
