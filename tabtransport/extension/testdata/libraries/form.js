// A form that is a tool, of fields whose values a library holds.
import { createElement, useState } from "react";
import { createRoot } from "react-dom/client";

function Form() {
  const [order, change] = useState({ name: "", note: "", size: "s", gift: false, pay: "card" });
  const of = (name) => ({ name, value: order[name], onChange: ({ target }) => change((order) => ({ ...order, [name]: target.value })) });
  const onSubmit = (event) => {
    event.preventDefault();
    event.nativeEvent.respondWith?.(order);
  };
  return createElement(
    "form",
    { toolname: "order", tooldescription: "order", toolautosubmit: "", onSubmit },
    createElement("input", of("name")),
    createElement("textarea", of("note")),
    createElement("select", of("size"), createElement("option", { value: "s" }), createElement("option", { value: "l" })),
    createElement("input", { name: "gift", type: "checkbox", checked: order.gift, onChange: ({ target }) => change((order) => ({ ...order, gift: target.checked })) }),
    ["card", "cash"].map((value) => createElement("input", { ...of("pay"), key: value, type: "radio", value, checked: order.pay === value })),
  );
}

createRoot(document.documentElement.appendChild(document.createElement("div"))).render(createElement(Form));
