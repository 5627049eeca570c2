import { expect, test } from "vitest";
import { protoPackageOf } from "../../../compiler/protobuf/proto-package.js";

test.each([
  ["shop", "shop.v1"],
  ["@acme/shop-api", "acme.shop_api.v1"],
  ["@acme/shopApi.next", "acme.shop_api.next.v1"],
  ["3d-shop", "p3d_shop.v1"],
  ["-", "v1"],
])("the protobuf package of the npm package %s is %s", (name, wanted) => {
  expect(protoPackageOf(name)).toBe(wanted);
});
