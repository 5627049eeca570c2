import { expect, test } from "vitest";
import { RecentKeys } from "../../../runtime/rdma/verbs/keys.js";

test("a key that comes again is known, until 65,536 others have come", () => {
  const keys = new RecentKeys();
  for (let key = 0; key < 65_536; key++) expect(keys.add(key)).toBe(true);
  expect(keys.add(0)).toBe(false);
  expect(keys.add(65_536)).toBe(true);
  expect(keys.add(0)).toBe(true);
  expect(keys.add(2)).toBe(false);
});
