/** Tests of the choice between shared memory and sockets, by VICEROY_LINKS and by the presence of the addon. */
import { expect, test } from "vitest";
import {
  chooseAddon,
  describeLinkTransport,
  LINKS_VARIABLE,
  sharedMemoryAddon,
} from "../../../../runtime/link/transport/shared-memory/select-addon.js";
import type { RdmaAddon, RdmaAddonState } from "../../../../runtime/native/rdma-addon.js";
import { onMemory } from "../../pipe-pair.js";

const addon = {} as RdmaAddon;
const present = (): RdmaAddonState => ({ addon, file: "/a.node" });
const absent = (): RdmaAddonState => ({ addon: undefined, why: "it has not been built", off: false });
const unasked = (): RdmaAddonState => expect.fail("nobody needs to know of the addon");

test("the value `socket` selects Unix sockets and does not look for the addon", () => {
  expect(LINKS_VARIABLE).toBe("VICEROY_LINKS");
  expect(chooseAddon("socket", unasked)).toBe(undefined);
  expect(describeLinkTransport("socket", unasked)).toBe('Unix sockets (VICEROY_LINKS is "socket")');
});

test.each([undefined, ""])("shared memory is selected by default if the addon is present: %j", (wanted) => {
  expect([chooseAddon(wanted, present), chooseAddon(wanted, absent)]).toEqual([addon, undefined]);
});

test("the value `memory` selects shared memory, or causes an error if the addon is absent", () => {
  expect(chooseAddon("memory", present)).toBe(addon);
  expect(() => chooseAddon("memory", absent)).toThrow(
    new Error(
      "cannot link processes by shared memory, as VICEROY_LINKS asks: that needs the addon, and it has not been built; " +
        "run `npx viceroy setup --rdma` to build it",
    ),
  );
});

test("an unknown value causes an error that lists the valid values", () => {
  expect(() => chooseAddon("fast", present)).toThrow(
    new TypeError('cannot use VICEROY_LINKS: expected "socket", "memory" or nothing, got "fast"'),
  );
});

test("the description names the selected transport and says why shared memory is not used", () => {
  expect(describeLinkTransport("memory", present)).toBe("shared memory, beside Unix sockets");
  expect(describeLinkTransport("memory", absent)).toBe(
    "Unix sockets: shared memory needs the addon, and it has not been built",
  );
});

test("a process reads its variable until the value is valid, and then keeps the choice", () => {
  const wanted = process.env[LINKS_VARIABLE];
  process.env[LINKS_VARIABLE] = "fast";
  expect(sharedMemoryAddon).toThrow(TypeError);
  process.env[LINKS_VARIABLE] = wanted;
  const first = sharedMemoryAddon();
  expect(first !== undefined).toBe(onMemory);
  process.env[LINKS_VARIABLE] = "fast";
  expect(sharedMemoryAddon()).toBe(first);
  process.env[LINKS_VARIABLE] = wanted;
  expect(describeLinkTransport().startsWith("shared memory")).toBe(onMemory);
});
