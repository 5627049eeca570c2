/** Hostile commands: each batch is refused as a whole with a reason, and has no effect. */
import { expect, test } from "vitest";
import { torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { CommandBuilder } from "./command-builder.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";
import { submitChanged } from "./submit-changed.js";

const good = () => new CommandBuilder().site("here").op("aten::relu").put(1, -1, 2).call(0).reference(1).results(2);

describeTensors("invalid commands", () => {
  const relu = () => new CommandBuilder().site("here").op("aten::relu");
  const cases: [string, Uint8Array, string][] = [
    ["an unknown command", new CommandBuilder().u8(77).done(), "unknown command 77"],
    ["an unknown operation", new CommandBuilder().op("aten::nope").done(), "has no operation aten::nope for commands"],
    [
      "an operation that reads files",
      new CommandBuilder().op("aten::from_file").done(),
      "has no operation aten::from_file",
    ],
    ["an operation that prints", new CommandBuilder().op("aten::_print").done(), "has no operation aten::_print"],
    [
      "an operation that gives a tensor other memory",
      new CommandBuilder().op("aten::shallow_copy_data_").done(),
      "has no operation aten::shallow_copy_data_",
    ],
    [
      "an operation of another namespace",
      new CommandBuilder().op("prim::Print").done(),
      "has no operation prim::Print for commands",
    ],
    [
      "an operation without tensors",
      new CommandBuilder().op("aten::item").done(),
      "operation aten::item cannot be called by commands",
    ],
    [
      "an operation with an output argument",
      new CommandBuilder().op("aten::relu", "out").done(),
      "operation aten::relu.out cannot be called by commands",
    ],
    [
      "a text that is too long",
      new CommandBuilder().u8(2).u32(0xffffffff).done(),
      "a count exceeds the remaining bytes",
    ],
    ["a call of an undefined operation", relu().call(1).done(), "it calls an undefined operation"],
    [
      "an undefined call site",
      relu().put(1, 1).call(0, 1).reference(1).results(2).done(),
      "it has an undefined call site",
    ],
    ["a missing tensor", relu().call(0).reference(9).results(2).done(), "there is no tensor 9"],
    ["a tensor that exists already", relu().put(1, 1).put(1, 2).done(), "there is a tensor 1 already"],
    [
      "a result that exists already",
      relu().put(1, 1).call(0).reference(1).results(1).done(),
      "there is a tensor 1 already",
    ],
    [
      "too many results",
      relu().put(1, 1).call(0).reference(1).results(2, 3).done(),
      "aten::relu has another number of results",
    ],
    [
      "an argument of a wrong type",
      relu().call(0).u8(6).u8(1).results(2).done(),
      "argument 'self' of aten::relu has a wrong type",
    ],
    [
      "no tensor where one is needed",
      relu().call(0).u8(1).results(2).done(),
      "argument 'self' of aten::relu has a wrong type",
    ],
    ["an argument of an unknown kind", relu().call(0).u8(99).done(), "unknown argument tag 99"],
    ["an invalid boolean", relu().call(0).u8(6).u8(2).done(), "a boolean is neither 0 nor 1"],
    ["a tensor that is dropped twice", relu().put(1, 1).drop(1, 1).done(), "there is no tensor 1"],
    [
      "the use of a tensor that is dropped",
      relu().put(1, 1).drop(1).call(0).reference(1).results(2).done(),
      "there is no tensor 1",
    ],
    [
      "elements of an unknown type",
      new CommandBuilder().u8(6).u64(1).u8(200, 0, 0).u32(0).done(),
      "a constant has an unknown dtype",
    ],
    [
      "elements that don't fill a shape",
      new CommandBuilder().u8(6).u64(1).u8(6, 0, 1).u64(2).u32(4).u32(0).done(),
      "the length of a constant does not match its shape",
    ],
    [
      "a negative size",
      new CommandBuilder()
        .u8(6)
        .u64(1)
        .u8(6, 0, 1)
        .u64(2n ** 64n - 1n)
        .u32(0)
        .done(),
      "a constant has an invalid size",
    ],
    [
      "sizes that overflow",
      new CommandBuilder()
        .u8(6)
        .u64(1)
        .u8(6, 0, 3)
        .u64(2n ** 31n)
        .u64(2n ** 31n)
        .u64(4)
        .u32(0)
        .done(),
      "a constant has an invalid size",
    ],
    [
      "too many dimensions",
      new CommandBuilder().u8(6).u64(1).u8(6, 0, 65).done(),
      "a constant has too many dimensions",
    ],
    ["the reserved tensor number 0", new CommandBuilder().put(0, 1).done(), "there is a tensor 0 already"],
  ];

  test.each(cases)("with %s are refused", async (_, commands, why) => {
    using pair = new RecorderAndWorker();
    const refused = pair.submit(commands);
    await expect(refused).rejects.toThrow("cannot execute commands for tensors: the command at byte ");
    await expect(refused).rejects.toThrow(why);
    expect(await pair.counts()).toEqual({ tensors: 0, calls: 0 });
  });

  test("a batch has no effect if its last command is refused", async () => {
    using pair = new RecorderAndWorker();
    await expect(pair.submit(good().u8(77).done())).rejects.toThrow("unknown command 77");
    expect(await pair.counts()).toEqual({ tensors: 0, calls: 0 });
    await expect(pair.submit(new CommandBuilder().put(1, 1).call(0).reference(1).results(2).done())).rejects.toThrow(
      "it calls an undefined operation",
    );
    await pair.submit(good().done());
    expect(await pair.counts()).toEqual({ tensors: 2, calls: 1 });
  });

  test("a truncated batch is refused, or executed up to a complete command", async () => {
    const whole = good().drop(1).done();
    for (let length = 1; length < whole.length; length++) {
      using pair = new RecorderAndWorker();
      const { tensors } = await pair.submit(whole.subarray(0, length)).then(
        () => pair.counts(),
        () => pair.counts(),
      );
      // A prefix that ends between two commands is a batch itself.
      expect([0, 1, 2]).toContain(tensors);
    }
  });

  test("randomly changed bytes end neither the process nor the stream", async () => {
    using source = new RecorderAndWorker();
    const x = source.send([
      [1, 2],
      [3, 4],
    ]);
    x.requiresGrad = true;
    torch.cross_entropy_loss(torch.layer_norm(x, [2]).matmul(x).relu(), x.argmax(1)).backward();
    const whole = source.take();
    await submitChanged(whole, 12345);
  });
});

describeTensors("a stream", () => {
  test("that was closed refuses later commands", async () => {
    using pair = new RecorderAndWorker();
    await pair.submit(good().done());
    pair.close();
    await expect(pair.submit(good().done())).rejects.toThrow(
      "cannot execute commands for tensors: the stream has been closed",
    );
  });

  test("does not block the event loop, and executes commands in order", async () => {
    using pair = new RecorderAndWorker();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const products = pair.run(() => {
      let product = torch.eye(600).mul(0.5);
      const eye = torch.eye(600);
      for (let i = 0; i < 60; i++) product = product.matmul(eye);
      return product;
    });
    const result = await pair.fetch(products.sum());
    clearInterval(timer);
    expect(result.item()).toBe(300);
    expect(turns).toBeGreaterThan(1);
  });
});
