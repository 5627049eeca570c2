/** Tests of the description of types in namespaces, for clients and reflection. */
import { create, toJson } from "@bufbuild/protobuf";
import { connectService } from "viceroy/gateway";
import { expect, test } from "vitest";
import { ShopActor } from "../compiler/emit/golden/namespaces/expected/order.js";

test("messages and enums are nested in the file of the package, which is that of the service", () => {
  const { service, registry } = connectService(ShopActor);
  expect(service.typeName).toBe("golden.v1.ShopService");
  const line = registry.getMessage("golden.v1.Order.Line");
  expect(line?.parent?.typeName).toBe("golden.v1.Order");
  expect(line?.file).toBe(service.file);
  expect(line?.file.proto.package).toBe("golden.v1");
  expect(registry.getMessage("golden.v1.Order.Line.Tax")?.parent).toBe(line);
  expect(registry.getEnum("golden.v1.Order.Mode")?.parent?.typeName).toBe("golden.v1.Order");
  expect(registry.getEnum("golden.v1.Order.Line.Level")?.values.map(({ name }) => name)).toEqual([
    "LEVEL_LOW",
    "LEVEL_HIGH",
  ]);
  expect(service.method["pay"]?.output.field["result"]?.message?.typeName).toBe("golden.v1.Shop.Receipt");
});

test("a namespace without a message of its name becomes an empty message", () => {
  const { registry } = connectService(ShopActor);
  const shop = registry.getMessage("golden.v1.Shop");
  expect(shop?.fields).toEqual([]);
  expect(shop?.nestedMessages.map(({ typeName }) => typeName)).toEqual(["golden.v1.Shop.Receipt"]);
  expect(toJson(shop!, create(shop!))).toEqual({});
});
