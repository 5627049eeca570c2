import { expect, test } from "vitest";
import { RecentKeys } from "../../../../runtime/rdma/transport/verbs/recent-keys.js";

test("a key is remembered until 65,536 other keys were added", () => {
  const keys = new RecentKeys();
  const added = Array.from({ length: 65_536 }, (_, key) => keys.add(key));
  expect(added.every((isNew) => isNew)).toBe(true);
  expect(keys.add(0)).toBe(false);
  expect(keys.add(65_536)).toBe(true);
  expect(keys.add(0)).toBe(true);
  expect(keys.add(2)).toBe(false);
});
