/** The options of `map` in their complete form, and the limits of its numbers. */
import { expect, test } from "vitest";
import {
  checkMapOptions,
  type MapOptions,
  type MappedEndpoint,
} from "../../../../runtime/actor/call/map/map-options.js";

const endpoint: MappedEndpoint = { label: "workers.work", isIdempotent: true, attempts: undefined };
const checked = (options: MapOptions, of: Partial<MappedEndpoint> = {}) =>
  checkMapOptions({ ...endpoint, ...of }, options);

test("the attempts come from the map, else from the endpoint, else they are 3, and 1 without @idempotent", () => {
  expect(checked({ retry: 5 }, { attempts: 7 }).attempts).toBe(5);
  expect(checked({ retry: 5 }).attempts).toBe(5);
  expect(checked({}, { attempts: 7 }).attempts).toBe(7);
  expect(checked({}).attempts).toBe(3);
  expect(checked({}, { isIdempotent: false, attempts: 7 }).attempts).toBe(1);
});

test("inFlight is at most 65536 and retry has no upper limit", () => {
  expect(checked({ inFlight: 65_536, retry: Number.MAX_SAFE_INTEGER })).toMatchObject({
    inFlight: 65_536,
    attempts: Number.MAX_SAFE_INTEGER,
  });
  expect(() => checked({ inFlight: 65_537 })).toThrow(
    new RangeError("cannot map workers.work: expected a whole number from 1 to 65536 for inFlight, got 65537"),
  );
  expect(checked({ inFlight: 1, retry: 1 })).toMatchObject({ inFlight: 1, attempts: 1 });
});

test("an item is the only argument unless `args` says otherwise", () => {
  expect(checked({}).args("item")).toEqual(["item"]);
  expect(checked({ args: (item: unknown) => [item, 1] } as MapOptions).args("item")).toEqual(["item", 1]);
});
