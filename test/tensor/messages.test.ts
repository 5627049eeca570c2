/** Tensors in messages of actors: compiled from a schema, between real processes. */
import { thisHost } from "viceroy";
import { inspect, type Tensor, TensorError, tensor, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";
import { LabelledCodec } from "./project/generated/model.js";
import "./project/generated/registry.js";
import { LinearModel } from "./project/src/linear-model.js";

describeTensors("tensors in messages", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  test("reach actors and come back, as tensors of the receiving process", async () => {
    const weights = tensor([[1], [2]]);
    const model = procs.spawn("model", LinearModel, weights);
    const answers = await model.forward.call(tensor([[3, 4]]));
    for (const answer of answers.values()) {
      expect(answer).toMatchObject({ shape: [1, 1], dtype: "float32", distributed: false });
      expect(answer.toArray()).toEqual([[11]]);
    }
    const gradients = [{ name: "some", values: tensor([[10], [10]]) }, { name: "none" }];
    const [first] = [...(await model.update.call(gradients)).values()];
    expect(first!["weights"]!.toArray()).toEqual([[11], [12]]);
    // The sender keeps its own tensor.
    expect(weights.toArray()).toEqual([[1], [2]]);
  });

  test("keep their values at the time of sending, for all sizes and types", async () => {
    const model = procs.slice({ gpus: 0 }).spawn("large", LinearModel, torch.eye(1024));
    const batch = torch.ones([256, 1024]);
    const answer = model.forward.callOne(batch);
    batch.mul_(0);
    expect((await answer).sum().item()).toBe(256 * 1024);
    for (const dtype of ["float64", "int64", "int8", "bool", "bfloat16", "complex64"] as const) {
      const values = torch.ones([2, 3]).to(dtype);
      const copy = LabelledCodec.decode(LabelledCodec.encode({ name: dtype, values })).values!;
      expect(copy).toMatchObject({ dtype, shape: [2, 3] });
      expect(copy.equal(values)).toBe(true);
    }
    const empty = LabelledCodec.decode(LabelledCodec.encode({ name: "", values: torch.ones([0, 7]) }));
    expect(empty.values!.shape).toEqual([0, 7]);
    // A tensor that is not contiguous is sent with its elements in order.
    const turned = LabelledCodec.decode(
      LabelledCodec.encode({
        name: "",
        values: tensor([
          [1, 2],
          [3, 4],
        ]).t(),
      }),
    );
    expect(turned.values!.toArray()).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  test("give other processes access to their memory, for reading and writing", async () => {
    const model = procs.slice({ gpus: 0 }).spawn("exposed", LinearModel, torch.ones([64, 64]));
    for (const make of [() => model.expose.callOne(), () => model.shared.callOne(4096)]) {
      const remote = await make();
      expect(remote.size).toBe(4096 * 4);
      // From a tensor of this process into the other one's, and back.
      const here = torch.full([64, 64], 3, { dtype: "float32" });
      await remote.writeFrom(here.data<"float32">());
      expect(await model.sum.callOne()).toBe(3 * 4096);
      await model.scale.callOne(0.5);
      await remote.readInto(here.data<"float32">());
      expect(here.sum().item()).toBe(1.5 * 4096);
    }
  });

  test("must be local tensors, and other values are refused with the name of the argument", async () => {
    const model = procs.spawn("refusing", LinearModel, tensor([[1]]));
    expect(() => model.forward.call([[1]] as unknown as Tensor)).toThrow(
      "cannot encode Model.forward(batch): expected a tensor, got an array of 1",
    );
    await procs.activate(async () => {
      const there = torch.ones([1, 1]);
      let refused: unknown;
      try {
        procs.spawn("from there", LinearModel, there);
      } catch (error) {
        refused = error;
      }
      expect((refused as Error).message).toBe(
        "cannot encode Model(weights): its elements are on the processes of a mesh; it can be an argument of an endpoint of actors there, or send what await inspect(tensor) answers",
      );
      expect((refused as Error).cause).toBeInstanceOf(TensorError);
      const here = await model.forward.call(await inspect(there));
      expect([...here.values()].map((answer) => answer.toArray())).toEqual([[[1]], [[1]]]);
    });
  });

  test("are refused if their bytes are invalid", () => {
    const bytes = LabelledCodec.encode({ name: "x", values: tensor([1, 2, 3]) });
    const at = Buffer.from(bytes).indexOf("float32");
    expect(at).toBeGreaterThan(0);
    const wrong = (text: string) => {
      const copy = Uint8Array.from(bytes);
      copy.set(Buffer.from(text), at);
      return () => LabelledCodec.decode(copy);
    };
    expect(wrong("float99")).toThrow('there is no dtype "float99"');
    expect(wrong("float64")).toThrow(/^cannot decode Labelled.values: cannot /);
  });
});
