/** Put and take of the rendezvous in any order. The test needs no real tensors. */
import { expect, test } from "vitest";
import {
  type ExchangeResult,
  endExchanges,
  putTensors,
  takeTensors,
} from "../../../runtime/tensor/rendezvous/rendezvous.js";
import type { Tensor } from "../../../runtime/tensor/value/tensor.js";

const tensors = (name: string): ExchangeResult => ({ tensors: [name as unknown as Tensor] });

test("a tensor can be put before or after the take, and only the first put of a key counts", async () => {
  const mesh = 1n;
  putTensors({ mesh, number: 1n }, tensors("first"));
  expect(await takeTensors({ mesh, number: 1n })).toEqual(tensors("first"));
  const second = takeTensors({ mesh, number: 2n });
  putTensors({ mesh, number: 2n }, Promise.resolve(tensors("second")));
  expect(await second).toEqual(tensors("second"));
  // These keys differ in the mesh or in the number.
  putTensors({ mesh: 2n, number: 3n }, tensors("other"));
  putTensors({ mesh, number: 3n }, tensors("third"));
  putTensors({ mesh, number: 3n }, tensors("third again"));
  expect(await takeTensors({ mesh, number: 3n })).toEqual(tensors("third"));
  expect(await takeTensors({ mesh: 2n, number: 3n })).toEqual(tensors("other"));
});

test("a rejected put is taken as a failure", async () => {
  const key = { mesh: 3n, number: 1n };
  const failure = new Error("it was not computed");
  putTensors(key, Promise.reject(failure));
  expect(await takeTensors(key)).toEqual({ failure });
});

test("the end of a mesh fails its pending and later takes", async () => {
  const mesh = 4n;
  const before = takeTensors({ mesh, number: 1n });
  endExchanges(mesh);
  const failure = new Error("the mesh that the tensor is of is not active any more");
  expect(await before).toEqual({ failure });
  expect(await takeTensors({ mesh, number: 2n })).toEqual({ failure });
  putTensors({ mesh, number: 3n }, tensors("late"));
  expect(await takeTensors({ mesh, number: 3n })).toEqual({ failure });
});
