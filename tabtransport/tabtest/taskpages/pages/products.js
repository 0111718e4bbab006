const products = [
  ["sencha", "Sencha green tea", 6.4, 12], ["assam", "Assam black tea", 3.9, 40], ["earl", "Earl Grey tea", 4.2, 31], ["rooibos", "Rooibos", 3.4, 18],
  ["matcha", "Matcha powder", 14.9, 5], ["jasmine", "Jasmine tea", 5.1, 9], ["oolong", "Oolong tea", 7.8, 0], ["chai", "Chai spice mix", 4.6, 22],
  ["espresso", "Espresso beans", 9.9, 14], ["filter", "Filter coffee", 7.5, 30], ["decaf", "Decaf coffee", 8.2, 7], ["cocoa", "Cocoa", 4.9, 16],
  ["honey", "Forest honey", 6.9, 11], ["sugar", "Cane sugar", 2.1, 60], ["kettle", "Steel kettle", 39, 4], ["pot", "Glass teapot", 24.5, 6],
  ["cup", "Porcelain cup", 8.5, 25], ["mug", "Large mug", 9.5, 13], ["spoon", "Tea spoon", 2.8, 50], ["sieve", "Tea sieve", 3.2, 19],
  ["tin", "Storage tin", 5.5, 8], ["towel", "Kitchen towel", 4.4, 10], ["tray", "Wooden tray", 18.9, 3], ["scale", "Kitchen scale", 22.9, 2],
].map(([id, name, price, stock]) => ({ id, name, price, stock }));
const euro = (amount) => `€ ${amount.toFixed(2)}`;
