/** Typed arrays are copied as they are in memory, so the order of bytes in memory must be that of the layouts. */
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** `Uint16Array` as it is on a processor with the other order of bytes. */
const swapped = new Proxy(Uint16Array, {
  get: (type, key) => (key === "of" ? () => Uint8Array.of(0, 1) : Reflect.get(type, key)),
});

test("loading the package fails on a processor that is not little-endian", async () => {
  vi.stubGlobal("Uint16Array", swapped);
  vi.resetModules();
  await expect(import("../../runtime/wire/index.js")).rejects.toThrow(
    "cannot load viceroy: it needs a little-endian processor",
  );
});

test("loading the package succeeds on a little-endian processor", async () => {
  vi.resetModules();
  await expect(import("../../runtime/wire/index.js")).resolves.toHaveProperty("codec");
});
