"use strict";
(() => {
  var __create = Object.create;
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __getProtoOf = Object.getPrototypeOf;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __commonJS = (cb, mod) => function __require() {
    try {
      return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
    } catch (e) {
      throw mod = 0, e;
    }
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
    // If the importer is in node compatibility mode or this is not an ESM
    // file that has been converted to a CommonJS file using a Babel-
    // compatible transform (i.e. "__esModule" has not been set), then set
    // "default" to the CommonJS "module.exports" for node compatibility.
    isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
    mod
  ));

  // node_modules/jmespath/jmespath.js
  var require_jmespath = __commonJS({
    "node_modules/jmespath/jmespath.js"(exports) {
      (function(exports2) {
        "use strict";
        function isArray(obj) {
          if (obj !== null) {
            return Object.prototype.toString.call(obj) === "[object Array]";
          } else {
            return false;
          }
        }
        function isObject(obj) {
          if (obj !== null) {
            return Object.prototype.toString.call(obj) === "[object Object]";
          } else {
            return false;
          }
        }
        function strictDeepEqual(first, second) {
          if (first === second) {
            return true;
          }
          var firstType = Object.prototype.toString.call(first);
          if (firstType !== Object.prototype.toString.call(second)) {
            return false;
          }
          if (isArray(first) === true) {
            if (first.length !== second.length) {
              return false;
            }
            for (var i = 0; i < first.length; i++) {
              if (strictDeepEqual(first[i], second[i]) === false) {
                return false;
              }
            }
            return true;
          }
          if (isObject(first) === true) {
            var keysSeen = {};
            for (var key in first) {
              if (hasOwnProperty.call(first, key)) {
                if (strictDeepEqual(first[key], second[key]) === false) {
                  return false;
                }
                keysSeen[key] = true;
              }
            }
            for (var key2 in second) {
              if (hasOwnProperty.call(second, key2)) {
                if (keysSeen[key2] !== true) {
                  return false;
                }
              }
            }
            return true;
          }
          return false;
        }
        function isFalse(obj) {
          if (obj === "" || obj === false || obj === null) {
            return true;
          } else if (isArray(obj) && obj.length === 0) {
            return true;
          } else if (isObject(obj)) {
            for (var key in obj) {
              if (obj.hasOwnProperty(key)) {
                return false;
              }
            }
            return true;
          } else {
            return false;
          }
        }
        function objValues(obj) {
          var keys = Object.keys(obj);
          var values = [];
          for (var i = 0; i < keys.length; i++) {
            values.push(obj[keys[i]]);
          }
          return values;
        }
        function merge(a, b) {
          var merged = {};
          for (var key in a) {
            merged[key] = a[key];
          }
          for (var key2 in b) {
            merged[key2] = b[key2];
          }
          return merged;
        }
        var trimLeft;
        if (typeof String.prototype.trimLeft === "function") {
          trimLeft = function(str) {
            return str.trimLeft();
          };
        } else {
          trimLeft = function(str) {
            return str.match(/^\s*(.*)/)[1];
          };
        }
        var TYPE_NUMBER = 0;
        var TYPE_ANY = 1;
        var TYPE_STRING = 2;
        var TYPE_ARRAY = 3;
        var TYPE_OBJECT = 4;
        var TYPE_BOOLEAN = 5;
        var TYPE_EXPREF = 6;
        var TYPE_NULL = 7;
        var TYPE_ARRAY_NUMBER = 8;
        var TYPE_ARRAY_STRING = 9;
        var TYPE_NAME_TABLE = {
          0: "number",
          1: "any",
          2: "string",
          3: "array",
          4: "object",
          5: "boolean",
          6: "expression",
          7: "null",
          8: "Array<number>",
          9: "Array<string>"
        };
        var TOK_EOF = "EOF";
        var TOK_UNQUOTEDIDENTIFIER = "UnquotedIdentifier";
        var TOK_QUOTEDIDENTIFIER = "QuotedIdentifier";
        var TOK_RBRACKET = "Rbracket";
        var TOK_RPAREN = "Rparen";
        var TOK_COMMA = "Comma";
        var TOK_COLON = "Colon";
        var TOK_RBRACE = "Rbrace";
        var TOK_NUMBER = "Number";
        var TOK_CURRENT = "Current";
        var TOK_EXPREF = "Expref";
        var TOK_PIPE = "Pipe";
        var TOK_OR = "Or";
        var TOK_AND = "And";
        var TOK_EQ = "EQ";
        var TOK_GT = "GT";
        var TOK_LT = "LT";
        var TOK_GTE = "GTE";
        var TOK_LTE = "LTE";
        var TOK_NE = "NE";
        var TOK_FLATTEN = "Flatten";
        var TOK_STAR = "Star";
        var TOK_FILTER = "Filter";
        var TOK_DOT = "Dot";
        var TOK_NOT = "Not";
        var TOK_LBRACE = "Lbrace";
        var TOK_LBRACKET = "Lbracket";
        var TOK_LPAREN = "Lparen";
        var TOK_LITERAL = "Literal";
        var basicTokens = {
          ".": TOK_DOT,
          "*": TOK_STAR,
          ",": TOK_COMMA,
          ":": TOK_COLON,
          "{": TOK_LBRACE,
          "}": TOK_RBRACE,
          "]": TOK_RBRACKET,
          "(": TOK_LPAREN,
          ")": TOK_RPAREN,
          "@": TOK_CURRENT
        };
        var operatorStartToken = {
          "<": true,
          ">": true,
          "=": true,
          "!": true
        };
        var skipChars = {
          " ": true,
          "	": true,
          "\n": true
        };
        function isAlpha(ch) {
          return ch >= "a" && ch <= "z" || ch >= "A" && ch <= "Z" || ch === "_";
        }
        function isNum(ch) {
          return ch >= "0" && ch <= "9" || ch === "-";
        }
        function isAlphaNum(ch) {
          return ch >= "a" && ch <= "z" || ch >= "A" && ch <= "Z" || ch >= "0" && ch <= "9" || ch === "_";
        }
        function Lexer() {
        }
        Lexer.prototype = {
          tokenize: function(stream) {
            var tokens = [];
            this._current = 0;
            var start;
            var identifier;
            var token;
            while (this._current < stream.length) {
              if (isAlpha(stream[this._current])) {
                start = this._current;
                identifier = this._consumeUnquotedIdentifier(stream);
                tokens.push({
                  type: TOK_UNQUOTEDIDENTIFIER,
                  value: identifier,
                  start
                });
              } else if (basicTokens[stream[this._current]] !== void 0) {
                tokens.push({
                  type: basicTokens[stream[this._current]],
                  value: stream[this._current],
                  start: this._current
                });
                this._current++;
              } else if (isNum(stream[this._current])) {
                token = this._consumeNumber(stream);
                tokens.push(token);
              } else if (stream[this._current] === "[") {
                token = this._consumeLBracket(stream);
                tokens.push(token);
              } else if (stream[this._current] === '"') {
                start = this._current;
                identifier = this._consumeQuotedIdentifier(stream);
                tokens.push({
                  type: TOK_QUOTEDIDENTIFIER,
                  value: identifier,
                  start
                });
              } else if (stream[this._current] === "'") {
                start = this._current;
                identifier = this._consumeRawStringLiteral(stream);
                tokens.push({
                  type: TOK_LITERAL,
                  value: identifier,
                  start
                });
              } else if (stream[this._current] === "`") {
                start = this._current;
                var literal = this._consumeLiteral(stream);
                tokens.push({
                  type: TOK_LITERAL,
                  value: literal,
                  start
                });
              } else if (operatorStartToken[stream[this._current]] !== void 0) {
                tokens.push(this._consumeOperator(stream));
              } else if (skipChars[stream[this._current]] !== void 0) {
                this._current++;
              } else if (stream[this._current] === "&") {
                start = this._current;
                this._current++;
                if (stream[this._current] === "&") {
                  this._current++;
                  tokens.push({ type: TOK_AND, value: "&&", start });
                } else {
                  tokens.push({ type: TOK_EXPREF, value: "&", start });
                }
              } else if (stream[this._current] === "|") {
                start = this._current;
                this._current++;
                if (stream[this._current] === "|") {
                  this._current++;
                  tokens.push({ type: TOK_OR, value: "||", start });
                } else {
                  tokens.push({ type: TOK_PIPE, value: "|", start });
                }
              } else {
                var error = new Error("Unknown character:" + stream[this._current]);
                error.name = "LexerError";
                throw error;
              }
            }
            return tokens;
          },
          _consumeUnquotedIdentifier: function(stream) {
            var start = this._current;
            this._current++;
            while (this._current < stream.length && isAlphaNum(stream[this._current])) {
              this._current++;
            }
            return stream.slice(start, this._current);
          },
          _consumeQuotedIdentifier: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (stream[this._current] !== '"' && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === '"')) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            this._current++;
            return JSON.parse(stream.slice(start, this._current));
          },
          _consumeRawStringLiteral: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (stream[this._current] !== "'" && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === "'")) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            this._current++;
            var literal = stream.slice(start + 1, this._current - 1);
            return literal.replace("\\'", "'");
          },
          _consumeNumber: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (isNum(stream[this._current]) && this._current < maxLength) {
              this._current++;
            }
            var value = parseInt(stream.slice(start, this._current));
            return { type: TOK_NUMBER, value, start };
          },
          _consumeLBracket: function(stream) {
            var start = this._current;
            this._current++;
            if (stream[this._current] === "?") {
              this._current++;
              return { type: TOK_FILTER, value: "[?", start };
            } else if (stream[this._current] === "]") {
              this._current++;
              return { type: TOK_FLATTEN, value: "[]", start };
            } else {
              return { type: TOK_LBRACKET, value: "[", start };
            }
          },
          _consumeOperator: function(stream) {
            var start = this._current;
            var startingChar = stream[start];
            this._current++;
            if (startingChar === "!") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_NE, value: "!=", start };
              } else {
                return { type: TOK_NOT, value: "!", start };
              }
            } else if (startingChar === "<") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_LTE, value: "<=", start };
              } else {
                return { type: TOK_LT, value: "<", start };
              }
            } else if (startingChar === ">") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_GTE, value: ">=", start };
              } else {
                return { type: TOK_GT, value: ">", start };
              }
            } else if (startingChar === "=") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_EQ, value: "==", start };
              }
            }
          },
          _consumeLiteral: function(stream) {
            this._current++;
            var start = this._current;
            var maxLength = stream.length;
            var literal;
            while (stream[this._current] !== "`" && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === "`")) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            var literalString = trimLeft(stream.slice(start, this._current));
            literalString = literalString.replace("\\`", "`");
            if (this._looksLikeJSON(literalString)) {
              literal = JSON.parse(literalString);
            } else {
              literal = JSON.parse('"' + literalString + '"');
            }
            this._current++;
            return literal;
          },
          _looksLikeJSON: function(literalString) {
            var startingChars = '[{"';
            var jsonLiterals = ["true", "false", "null"];
            var numberLooking = "-0123456789";
            if (literalString === "") {
              return false;
            } else if (startingChars.indexOf(literalString[0]) >= 0) {
              return true;
            } else if (jsonLiterals.indexOf(literalString) >= 0) {
              return true;
            } else if (numberLooking.indexOf(literalString[0]) >= 0) {
              try {
                JSON.parse(literalString);
                return true;
              } catch (ex) {
                return false;
              }
            } else {
              return false;
            }
          }
        };
        var bindingPower = {};
        bindingPower[TOK_EOF] = 0;
        bindingPower[TOK_UNQUOTEDIDENTIFIER] = 0;
        bindingPower[TOK_QUOTEDIDENTIFIER] = 0;
        bindingPower[TOK_RBRACKET] = 0;
        bindingPower[TOK_RPAREN] = 0;
        bindingPower[TOK_COMMA] = 0;
        bindingPower[TOK_RBRACE] = 0;
        bindingPower[TOK_NUMBER] = 0;
        bindingPower[TOK_CURRENT] = 0;
        bindingPower[TOK_EXPREF] = 0;
        bindingPower[TOK_PIPE] = 1;
        bindingPower[TOK_OR] = 2;
        bindingPower[TOK_AND] = 3;
        bindingPower[TOK_EQ] = 5;
        bindingPower[TOK_GT] = 5;
        bindingPower[TOK_LT] = 5;
        bindingPower[TOK_GTE] = 5;
        bindingPower[TOK_LTE] = 5;
        bindingPower[TOK_NE] = 5;
        bindingPower[TOK_FLATTEN] = 9;
        bindingPower[TOK_STAR] = 20;
        bindingPower[TOK_FILTER] = 21;
        bindingPower[TOK_DOT] = 40;
        bindingPower[TOK_NOT] = 45;
        bindingPower[TOK_LBRACE] = 50;
        bindingPower[TOK_LBRACKET] = 55;
        bindingPower[TOK_LPAREN] = 60;
        function Parser() {
        }
        Parser.prototype = {
          parse: function(expression) {
            this._loadTokens(expression);
            this.index = 0;
            var ast = this.expression(0);
            if (this._lookahead(0) !== TOK_EOF) {
              var t = this._lookaheadToken(0);
              var error = new Error(
                "Unexpected token type: " + t.type + ", value: " + t.value
              );
              error.name = "ParserError";
              throw error;
            }
            return ast;
          },
          _loadTokens: function(expression) {
            var lexer = new Lexer();
            var tokens = lexer.tokenize(expression);
            tokens.push({ type: TOK_EOF, value: "", start: expression.length });
            this.tokens = tokens;
          },
          expression: function(rbp) {
            var leftToken = this._lookaheadToken(0);
            this._advance();
            var left = this.nud(leftToken);
            var currentToken = this._lookahead(0);
            while (rbp < bindingPower[currentToken]) {
              this._advance();
              left = this.led(currentToken, left);
              currentToken = this._lookahead(0);
            }
            return left;
          },
          _lookahead: function(number2) {
            return this.tokens[this.index + number2].type;
          },
          _lookaheadToken: function(number2) {
            return this.tokens[this.index + number2];
          },
          _advance: function() {
            this.index++;
          },
          nud: function(token) {
            var left;
            var right;
            var expression;
            switch (token.type) {
              case TOK_LITERAL:
                return { type: "Literal", value: token.value };
              case TOK_UNQUOTEDIDENTIFIER:
                return { type: "Field", name: token.value };
              case TOK_QUOTEDIDENTIFIER:
                var node = { type: "Field", name: token.value };
                if (this._lookahead(0) === TOK_LPAREN) {
                  throw new Error("Quoted identifier not allowed for function names.");
                }
                return node;
              case TOK_NOT:
                right = this.expression(bindingPower.Not);
                return { type: "NotExpression", children: [right] };
              case TOK_STAR:
                left = { type: "Identity" };
                right = null;
                if (this._lookahead(0) === TOK_RBRACKET) {
                  right = { type: "Identity" };
                } else {
                  right = this._parseProjectionRHS(bindingPower.Star);
                }
                return { type: "ValueProjection", children: [left, right] };
              case TOK_FILTER:
                return this.led(token.type, { type: "Identity" });
              case TOK_LBRACE:
                return this._parseMultiselectHash();
              case TOK_FLATTEN:
                left = { type: TOK_FLATTEN, children: [{ type: "Identity" }] };
                right = this._parseProjectionRHS(bindingPower.Flatten);
                return { type: "Projection", children: [left, right] };
              case TOK_LBRACKET:
                if (this._lookahead(0) === TOK_NUMBER || this._lookahead(0) === TOK_COLON) {
                  right = this._parseIndexExpression();
                  return this._projectIfSlice({ type: "Identity" }, right);
                } else if (this._lookahead(0) === TOK_STAR && this._lookahead(1) === TOK_RBRACKET) {
                  this._advance();
                  this._advance();
                  right = this._parseProjectionRHS(bindingPower.Star);
                  return {
                    type: "Projection",
                    children: [{ type: "Identity" }, right]
                  };
                }
                return this._parseMultiselectList();
              case TOK_CURRENT:
                return { type: TOK_CURRENT };
              case TOK_EXPREF:
                expression = this.expression(bindingPower.Expref);
                return { type: "ExpressionReference", children: [expression] };
              case TOK_LPAREN:
                var args = [];
                while (this._lookahead(0) !== TOK_RPAREN) {
                  if (this._lookahead(0) === TOK_CURRENT) {
                    expression = { type: TOK_CURRENT };
                    this._advance();
                  } else {
                    expression = this.expression(0);
                  }
                  args.push(expression);
                }
                this._match(TOK_RPAREN);
                return args[0];
              default:
                this._errorToken(token);
            }
          },
          led: function(tokenName, left) {
            var right;
            switch (tokenName) {
              case TOK_DOT:
                var rbp = bindingPower.Dot;
                if (this._lookahead(0) !== TOK_STAR) {
                  right = this._parseDotRHS(rbp);
                  return { type: "Subexpression", children: [left, right] };
                }
                this._advance();
                right = this._parseProjectionRHS(rbp);
                return { type: "ValueProjection", children: [left, right] };
              case TOK_PIPE:
                right = this.expression(bindingPower.Pipe);
                return { type: TOK_PIPE, children: [left, right] };
              case TOK_OR:
                right = this.expression(bindingPower.Or);
                return { type: "OrExpression", children: [left, right] };
              case TOK_AND:
                right = this.expression(bindingPower.And);
                return { type: "AndExpression", children: [left, right] };
              case TOK_LPAREN:
                var name = left.name;
                var args = [];
                var expression, node;
                while (this._lookahead(0) !== TOK_RPAREN) {
                  if (this._lookahead(0) === TOK_CURRENT) {
                    expression = { type: TOK_CURRENT };
                    this._advance();
                  } else {
                    expression = this.expression(0);
                  }
                  if (this._lookahead(0) === TOK_COMMA) {
                    this._match(TOK_COMMA);
                  }
                  args.push(expression);
                }
                this._match(TOK_RPAREN);
                node = { type: "Function", name, children: args };
                return node;
              case TOK_FILTER:
                var condition = this.expression(0);
                this._match(TOK_RBRACKET);
                if (this._lookahead(0) === TOK_FLATTEN) {
                  right = { type: "Identity" };
                } else {
                  right = this._parseProjectionRHS(bindingPower.Filter);
                }
                return { type: "FilterProjection", children: [left, right, condition] };
              case TOK_FLATTEN:
                var leftNode = { type: TOK_FLATTEN, children: [left] };
                var rightNode = this._parseProjectionRHS(bindingPower.Flatten);
                return { type: "Projection", children: [leftNode, rightNode] };
              case TOK_EQ:
              case TOK_NE:
              case TOK_GT:
              case TOK_GTE:
              case TOK_LT:
              case TOK_LTE:
                return this._parseComparator(left, tokenName);
              case TOK_LBRACKET:
                var token = this._lookaheadToken(0);
                if (token.type === TOK_NUMBER || token.type === TOK_COLON) {
                  right = this._parseIndexExpression();
                  return this._projectIfSlice(left, right);
                }
                this._match(TOK_STAR);
                this._match(TOK_RBRACKET);
                right = this._parseProjectionRHS(bindingPower.Star);
                return { type: "Projection", children: [left, right] };
              default:
                this._errorToken(this._lookaheadToken(0));
            }
          },
          _match: function(tokenType) {
            if (this._lookahead(0) === tokenType) {
              this._advance();
            } else {
              var t = this._lookaheadToken(0);
              var error = new Error("Expected " + tokenType + ", got: " + t.type);
              error.name = "ParserError";
              throw error;
            }
          },
          _errorToken: function(token) {
            var error = new Error("Invalid token (" + token.type + '): "' + token.value + '"');
            error.name = "ParserError";
            throw error;
          },
          _parseIndexExpression: function() {
            if (this._lookahead(0) === TOK_COLON || this._lookahead(1) === TOK_COLON) {
              return this._parseSliceExpression();
            } else {
              var node = {
                type: "Index",
                value: this._lookaheadToken(0).value
              };
              this._advance();
              this._match(TOK_RBRACKET);
              return node;
            }
          },
          _projectIfSlice: function(left, right) {
            var indexExpr = { type: "IndexExpression", children: [left, right] };
            if (right.type === "Slice") {
              return {
                type: "Projection",
                children: [indexExpr, this._parseProjectionRHS(bindingPower.Star)]
              };
            } else {
              return indexExpr;
            }
          },
          _parseSliceExpression: function() {
            var parts = [null, null, null];
            var index = 0;
            var currentToken = this._lookahead(0);
            while (currentToken !== TOK_RBRACKET && index < 3) {
              if (currentToken === TOK_COLON) {
                index++;
                this._advance();
              } else if (currentToken === TOK_NUMBER) {
                parts[index] = this._lookaheadToken(0).value;
                this._advance();
              } else {
                var t = this._lookahead(0);
                var error = new Error("Syntax error, unexpected token: " + t.value + "(" + t.type + ")");
                error.name = "Parsererror";
                throw error;
              }
              currentToken = this._lookahead(0);
            }
            this._match(TOK_RBRACKET);
            return {
              type: "Slice",
              children: parts
            };
          },
          _parseComparator: function(left, comparator) {
            var right = this.expression(bindingPower[comparator]);
            return { type: "Comparator", name: comparator, children: [left, right] };
          },
          _parseDotRHS: function(rbp) {
            var lookahead = this._lookahead(0);
            var exprTokens = [TOK_UNQUOTEDIDENTIFIER, TOK_QUOTEDIDENTIFIER, TOK_STAR];
            if (exprTokens.indexOf(lookahead) >= 0) {
              return this.expression(rbp);
            } else if (lookahead === TOK_LBRACKET) {
              this._match(TOK_LBRACKET);
              return this._parseMultiselectList();
            } else if (lookahead === TOK_LBRACE) {
              this._match(TOK_LBRACE);
              return this._parseMultiselectHash();
            }
          },
          _parseProjectionRHS: function(rbp) {
            var right;
            if (bindingPower[this._lookahead(0)] < 10) {
              right = { type: "Identity" };
            } else if (this._lookahead(0) === TOK_LBRACKET) {
              right = this.expression(rbp);
            } else if (this._lookahead(0) === TOK_FILTER) {
              right = this.expression(rbp);
            } else if (this._lookahead(0) === TOK_DOT) {
              this._match(TOK_DOT);
              right = this._parseDotRHS(rbp);
            } else {
              var t = this._lookaheadToken(0);
              var error = new Error("Sytanx error, unexpected token: " + t.value + "(" + t.type + ")");
              error.name = "ParserError";
              throw error;
            }
            return right;
          },
          _parseMultiselectList: function() {
            var expressions = [];
            while (this._lookahead(0) !== TOK_RBRACKET) {
              var expression = this.expression(0);
              expressions.push(expression);
              if (this._lookahead(0) === TOK_COMMA) {
                this._match(TOK_COMMA);
                if (this._lookahead(0) === TOK_RBRACKET) {
                  throw new Error("Unexpected token Rbracket");
                }
              }
            }
            this._match(TOK_RBRACKET);
            return { type: "MultiSelectList", children: expressions };
          },
          _parseMultiselectHash: function() {
            var pairs = [];
            var identifierTypes = [TOK_UNQUOTEDIDENTIFIER, TOK_QUOTEDIDENTIFIER];
            var keyToken, keyName, value, node;
            for (; ; ) {
              keyToken = this._lookaheadToken(0);
              if (identifierTypes.indexOf(keyToken.type) < 0) {
                throw new Error("Expecting an identifier token, got: " + keyToken.type);
              }
              keyName = keyToken.value;
              this._advance();
              this._match(TOK_COLON);
              value = this.expression(0);
              node = { type: "KeyValuePair", name: keyName, value };
              pairs.push(node);
              if (this._lookahead(0) === TOK_COMMA) {
                this._match(TOK_COMMA);
              } else if (this._lookahead(0) === TOK_RBRACE) {
                this._match(TOK_RBRACE);
                break;
              }
            }
            return { type: "MultiSelectHash", children: pairs };
          }
        };
        function TreeInterpreter(runtime) {
          this.runtime = runtime;
        }
        TreeInterpreter.prototype = {
          search: function(node, value) {
            return this.visit(node, value);
          },
          visit: function(node, value) {
            var matched, current, result, first, second, field, left, right, collected, i;
            switch (node.type) {
              case "Field":
                if (value !== null && isObject(value)) {
                  field = value[node.name];
                  if (field === void 0) {
                    return null;
                  } else {
                    return field;
                  }
                }
                return null;
              case "Subexpression":
                result = this.visit(node.children[0], value);
                for (i = 1; i < node.children.length; i++) {
                  result = this.visit(node.children[1], result);
                  if (result === null) {
                    return null;
                  }
                }
                return result;
              case "IndexExpression":
                left = this.visit(node.children[0], value);
                right = this.visit(node.children[1], left);
                return right;
              case "Index":
                if (!isArray(value)) {
                  return null;
                }
                var index = node.value;
                if (index < 0) {
                  index = value.length + index;
                }
                result = value[index];
                if (result === void 0) {
                  result = null;
                }
                return result;
              case "Slice":
                if (!isArray(value)) {
                  return null;
                }
                var sliceParams = node.children.slice(0);
                var computed = this.computeSliceParams(value.length, sliceParams);
                var start = computed[0];
                var stop = computed[1];
                var step2 = computed[2];
                result = [];
                if (step2 > 0) {
                  for (i = start; i < stop; i += step2) {
                    result.push(value[i]);
                  }
                } else {
                  for (i = start; i > stop; i += step2) {
                    result.push(value[i]);
                  }
                }
                return result;
              case "Projection":
                var base = this.visit(node.children[0], value);
                if (!isArray(base)) {
                  return null;
                }
                collected = [];
                for (i = 0; i < base.length; i++) {
                  current = this.visit(node.children[1], base[i]);
                  if (current !== null) {
                    collected.push(current);
                  }
                }
                return collected;
              case "ValueProjection":
                base = this.visit(node.children[0], value);
                if (!isObject(base)) {
                  return null;
                }
                collected = [];
                var values = objValues(base);
                for (i = 0; i < values.length; i++) {
                  current = this.visit(node.children[1], values[i]);
                  if (current !== null) {
                    collected.push(current);
                  }
                }
                return collected;
              case "FilterProjection":
                base = this.visit(node.children[0], value);
                if (!isArray(base)) {
                  return null;
                }
                var filtered = [];
                var finalResults = [];
                for (i = 0; i < base.length; i++) {
                  matched = this.visit(node.children[2], base[i]);
                  if (!isFalse(matched)) {
                    filtered.push(base[i]);
                  }
                }
                for (var j = 0; j < filtered.length; j++) {
                  current = this.visit(node.children[1], filtered[j]);
                  if (current !== null) {
                    finalResults.push(current);
                  }
                }
                return finalResults;
              case "Comparator":
                first = this.visit(node.children[0], value);
                second = this.visit(node.children[1], value);
                switch (node.name) {
                  case TOK_EQ:
                    result = strictDeepEqual(first, second);
                    break;
                  case TOK_NE:
                    result = !strictDeepEqual(first, second);
                    break;
                  case TOK_GT:
                    result = first > second;
                    break;
                  case TOK_GTE:
                    result = first >= second;
                    break;
                  case TOK_LT:
                    result = first < second;
                    break;
                  case TOK_LTE:
                    result = first <= second;
                    break;
                  default:
                    throw new Error("Unknown comparator: " + node.name);
                }
                return result;
              case TOK_FLATTEN:
                var original = this.visit(node.children[0], value);
                if (!isArray(original)) {
                  return null;
                }
                var merged = [];
                for (i = 0; i < original.length; i++) {
                  current = original[i];
                  if (isArray(current)) {
                    merged.push.apply(merged, current);
                  } else {
                    merged.push(current);
                  }
                }
                return merged;
              case "Identity":
                return value;
              case "MultiSelectList":
                if (value === null) {
                  return null;
                }
                collected = [];
                for (i = 0; i < node.children.length; i++) {
                  collected.push(this.visit(node.children[i], value));
                }
                return collected;
              case "MultiSelectHash":
                if (value === null) {
                  return null;
                }
                collected = {};
                var child;
                for (i = 0; i < node.children.length; i++) {
                  child = node.children[i];
                  collected[child.name] = this.visit(child.value, value);
                }
                return collected;
              case "OrExpression":
                matched = this.visit(node.children[0], value);
                if (isFalse(matched)) {
                  matched = this.visit(node.children[1], value);
                }
                return matched;
              case "AndExpression":
                first = this.visit(node.children[0], value);
                if (isFalse(first) === true) {
                  return first;
                }
                return this.visit(node.children[1], value);
              case "NotExpression":
                first = this.visit(node.children[0], value);
                return isFalse(first);
              case "Literal":
                return node.value;
              case TOK_PIPE:
                left = this.visit(node.children[0], value);
                return this.visit(node.children[1], left);
              case TOK_CURRENT:
                return value;
              case "Function":
                var resolvedArgs = [];
                for (i = 0; i < node.children.length; i++) {
                  resolvedArgs.push(this.visit(node.children[i], value));
                }
                return this.runtime.callFunction(node.name, resolvedArgs);
              case "ExpressionReference":
                var refNode = node.children[0];
                refNode.jmespathType = TOK_EXPREF;
                return refNode;
              default:
                throw new Error("Unknown node type: " + node.type);
            }
          },
          computeSliceParams: function(arrayLength, sliceParams) {
            var start = sliceParams[0];
            var stop = sliceParams[1];
            var step2 = sliceParams[2];
            var computed = [null, null, null];
            if (step2 === null) {
              step2 = 1;
            } else if (step2 === 0) {
              var error = new Error("Invalid slice, step cannot be 0");
              error.name = "RuntimeError";
              throw error;
            }
            var stepValueNegative = step2 < 0 ? true : false;
            if (start === null) {
              start = stepValueNegative ? arrayLength - 1 : 0;
            } else {
              start = this.capSliceRange(arrayLength, start, step2);
            }
            if (stop === null) {
              stop = stepValueNegative ? -1 : arrayLength;
            } else {
              stop = this.capSliceRange(arrayLength, stop, step2);
            }
            computed[0] = start;
            computed[1] = stop;
            computed[2] = step2;
            return computed;
          },
          capSliceRange: function(arrayLength, actualValue, step2) {
            if (actualValue < 0) {
              actualValue += arrayLength;
              if (actualValue < 0) {
                actualValue = step2 < 0 ? -1 : 0;
              }
            } else if (actualValue >= arrayLength) {
              actualValue = step2 < 0 ? arrayLength - 1 : arrayLength;
            }
            return actualValue;
          }
        };
        function Runtime(interpreter) {
          this._interpreter = interpreter;
          this.functionTable = {
            // name: [function, <signature>]
            // The <signature> can be:
            //
            // {
            //   args: [[type1, type2], [type1, type2]],
            //   variadic: true|false
            // }
            //
            // Each arg in the arg list is a list of valid types
            // (if the function is overloaded and supports multiple
            // types.  If the type is "any" then no type checking
            // occurs on the argument.  Variadic is optional
            // and if not provided is assumed to be false.
            abs: { _func: this._functionAbs, _signature: [{ types: [TYPE_NUMBER] }] },
            avg: { _func: this._functionAvg, _signature: [{ types: [TYPE_ARRAY_NUMBER] }] },
            ceil: { _func: this._functionCeil, _signature: [{ types: [TYPE_NUMBER] }] },
            contains: {
              _func: this._functionContains,
              _signature: [
                { types: [TYPE_STRING, TYPE_ARRAY] },
                { types: [TYPE_ANY] }
              ]
            },
            "ends_with": {
              _func: this._functionEndsWith,
              _signature: [{ types: [TYPE_STRING] }, { types: [TYPE_STRING] }]
            },
            floor: { _func: this._functionFloor, _signature: [{ types: [TYPE_NUMBER] }] },
            length: {
              _func: this._functionLength,
              _signature: [{ types: [TYPE_STRING, TYPE_ARRAY, TYPE_OBJECT] }]
            },
            map: {
              _func: this._functionMap,
              _signature: [{ types: [TYPE_EXPREF] }, { types: [TYPE_ARRAY] }]
            },
            max: {
              _func: this._functionMax,
              _signature: [{ types: [TYPE_ARRAY_NUMBER, TYPE_ARRAY_STRING] }]
            },
            "merge": {
              _func: this._functionMerge,
              _signature: [{ types: [TYPE_OBJECT], variadic: true }]
            },
            "max_by": {
              _func: this._functionMaxBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            sum: { _func: this._functionSum, _signature: [{ types: [TYPE_ARRAY_NUMBER] }] },
            "starts_with": {
              _func: this._functionStartsWith,
              _signature: [{ types: [TYPE_STRING] }, { types: [TYPE_STRING] }]
            },
            min: {
              _func: this._functionMin,
              _signature: [{ types: [TYPE_ARRAY_NUMBER, TYPE_ARRAY_STRING] }]
            },
            "min_by": {
              _func: this._functionMinBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            type: { _func: this._functionType, _signature: [{ types: [TYPE_ANY] }] },
            keys: { _func: this._functionKeys, _signature: [{ types: [TYPE_OBJECT] }] },
            values: { _func: this._functionValues, _signature: [{ types: [TYPE_OBJECT] }] },
            sort: { _func: this._functionSort, _signature: [{ types: [TYPE_ARRAY_STRING, TYPE_ARRAY_NUMBER] }] },
            "sort_by": {
              _func: this._functionSortBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            join: {
              _func: this._functionJoin,
              _signature: [
                { types: [TYPE_STRING] },
                { types: [TYPE_ARRAY_STRING] }
              ]
            },
            reverse: {
              _func: this._functionReverse,
              _signature: [{ types: [TYPE_STRING, TYPE_ARRAY] }]
            },
            "to_array": { _func: this._functionToArray, _signature: [{ types: [TYPE_ANY] }] },
            "to_string": { _func: this._functionToString, _signature: [{ types: [TYPE_ANY] }] },
            "to_number": { _func: this._functionToNumber, _signature: [{ types: [TYPE_ANY] }] },
            "not_null": {
              _func: this._functionNotNull,
              _signature: [{ types: [TYPE_ANY], variadic: true }]
            }
          };
        }
        Runtime.prototype = {
          callFunction: function(name, resolvedArgs) {
            var functionEntry = this.functionTable[name];
            if (functionEntry === void 0) {
              throw new Error("Unknown function: " + name + "()");
            }
            this._validateArgs(name, resolvedArgs, functionEntry._signature);
            return functionEntry._func.call(this, resolvedArgs);
          },
          _validateArgs: function(name, args, signature) {
            var pluralized;
            if (signature[signature.length - 1].variadic) {
              if (args.length < signature.length) {
                pluralized = signature.length === 1 ? " argument" : " arguments";
                throw new Error("ArgumentError: " + name + "() takes at least" + signature.length + pluralized + " but received " + args.length);
              }
            } else if (args.length !== signature.length) {
              pluralized = signature.length === 1 ? " argument" : " arguments";
              throw new Error("ArgumentError: " + name + "() takes " + signature.length + pluralized + " but received " + args.length);
            }
            var currentSpec;
            var actualType;
            var typeMatched;
            for (var i = 0; i < signature.length; i++) {
              typeMatched = false;
              currentSpec = signature[i].types;
              actualType = this._getTypeName(args[i]);
              for (var j = 0; j < currentSpec.length; j++) {
                if (this._typeMatches(actualType, currentSpec[j], args[i])) {
                  typeMatched = true;
                  break;
                }
              }
              if (!typeMatched) {
                var expected = currentSpec.map(function(typeIdentifier) {
                  return TYPE_NAME_TABLE[typeIdentifier];
                }).join(",");
                throw new Error("TypeError: " + name + "() expected argument " + (i + 1) + " to be type " + expected + " but received type " + TYPE_NAME_TABLE[actualType] + " instead.");
              }
            }
          },
          _typeMatches: function(actual, expected, argValue) {
            if (expected === TYPE_ANY) {
              return true;
            }
            if (expected === TYPE_ARRAY_STRING || expected === TYPE_ARRAY_NUMBER || expected === TYPE_ARRAY) {
              if (expected === TYPE_ARRAY) {
                return actual === TYPE_ARRAY;
              } else if (actual === TYPE_ARRAY) {
                var subtype;
                if (expected === TYPE_ARRAY_NUMBER) {
                  subtype = TYPE_NUMBER;
                } else if (expected === TYPE_ARRAY_STRING) {
                  subtype = TYPE_STRING;
                }
                for (var i = 0; i < argValue.length; i++) {
                  if (!this._typeMatches(
                    this._getTypeName(argValue[i]),
                    subtype,
                    argValue[i]
                  )) {
                    return false;
                  }
                }
                return true;
              }
            } else {
              return actual === expected;
            }
          },
          _getTypeName: function(obj) {
            switch (Object.prototype.toString.call(obj)) {
              case "[object String]":
                return TYPE_STRING;
              case "[object Number]":
                return TYPE_NUMBER;
              case "[object Array]":
                return TYPE_ARRAY;
              case "[object Boolean]":
                return TYPE_BOOLEAN;
              case "[object Null]":
                return TYPE_NULL;
              case "[object Object]":
                if (obj.jmespathType === TOK_EXPREF) {
                  return TYPE_EXPREF;
                } else {
                  return TYPE_OBJECT;
                }
            }
          },
          _functionStartsWith: function(resolvedArgs) {
            return resolvedArgs[0].lastIndexOf(resolvedArgs[1]) === 0;
          },
          _functionEndsWith: function(resolvedArgs) {
            var searchStr = resolvedArgs[0];
            var suffix = resolvedArgs[1];
            return searchStr.indexOf(suffix, searchStr.length - suffix.length) !== -1;
          },
          _functionReverse: function(resolvedArgs) {
            var typeName = this._getTypeName(resolvedArgs[0]);
            if (typeName === TYPE_STRING) {
              var originalStr = resolvedArgs[0];
              var reversedStr = "";
              for (var i = originalStr.length - 1; i >= 0; i--) {
                reversedStr += originalStr[i];
              }
              return reversedStr;
            } else {
              var reversedArray = resolvedArgs[0].slice(0);
              reversedArray.reverse();
              return reversedArray;
            }
          },
          _functionAbs: function(resolvedArgs) {
            return Math.abs(resolvedArgs[0]);
          },
          _functionCeil: function(resolvedArgs) {
            return Math.ceil(resolvedArgs[0]);
          },
          _functionAvg: function(resolvedArgs) {
            var sum = 0;
            var inputArray = resolvedArgs[0];
            for (var i = 0; i < inputArray.length; i++) {
              sum += inputArray[i];
            }
            return sum / inputArray.length;
          },
          _functionContains: function(resolvedArgs) {
            return resolvedArgs[0].indexOf(resolvedArgs[1]) >= 0;
          },
          _functionFloor: function(resolvedArgs) {
            return Math.floor(resolvedArgs[0]);
          },
          _functionLength: function(resolvedArgs) {
            if (!isObject(resolvedArgs[0])) {
              return resolvedArgs[0].length;
            } else {
              return Object.keys(resolvedArgs[0]).length;
            }
          },
          _functionMap: function(resolvedArgs) {
            var mapped = [];
            var interpreter = this._interpreter;
            var exprefNode = resolvedArgs[0];
            var elements = resolvedArgs[1];
            for (var i = 0; i < elements.length; i++) {
              mapped.push(interpreter.visit(exprefNode, elements[i]));
            }
            return mapped;
          },
          _functionMerge: function(resolvedArgs) {
            var merged = {};
            for (var i = 0; i < resolvedArgs.length; i++) {
              var current = resolvedArgs[i];
              for (var key in current) {
                merged[key] = current[key];
              }
            }
            return merged;
          },
          _functionMax: function(resolvedArgs) {
            if (resolvedArgs[0].length > 0) {
              var typeName = this._getTypeName(resolvedArgs[0][0]);
              if (typeName === TYPE_NUMBER) {
                return Math.max.apply(Math, resolvedArgs[0]);
              } else {
                var elements = resolvedArgs[0];
                var maxElement = elements[0];
                for (var i = 1; i < elements.length; i++) {
                  if (maxElement.localeCompare(elements[i]) < 0) {
                    maxElement = elements[i];
                  }
                }
                return maxElement;
              }
            } else {
              return null;
            }
          },
          _functionMin: function(resolvedArgs) {
            if (resolvedArgs[0].length > 0) {
              var typeName = this._getTypeName(resolvedArgs[0][0]);
              if (typeName === TYPE_NUMBER) {
                return Math.min.apply(Math, resolvedArgs[0]);
              } else {
                var elements = resolvedArgs[0];
                var minElement = elements[0];
                for (var i = 1; i < elements.length; i++) {
                  if (elements[i].localeCompare(minElement) < 0) {
                    minElement = elements[i];
                  }
                }
                return minElement;
              }
            } else {
              return null;
            }
          },
          _functionSum: function(resolvedArgs) {
            var sum = 0;
            var listToSum = resolvedArgs[0];
            for (var i = 0; i < listToSum.length; i++) {
              sum += listToSum[i];
            }
            return sum;
          },
          _functionType: function(resolvedArgs) {
            switch (this._getTypeName(resolvedArgs[0])) {
              case TYPE_NUMBER:
                return "number";
              case TYPE_STRING:
                return "string";
              case TYPE_ARRAY:
                return "array";
              case TYPE_OBJECT:
                return "object";
              case TYPE_BOOLEAN:
                return "boolean";
              case TYPE_EXPREF:
                return "expref";
              case TYPE_NULL:
                return "null";
            }
          },
          _functionKeys: function(resolvedArgs) {
            return Object.keys(resolvedArgs[0]);
          },
          _functionValues: function(resolvedArgs) {
            var obj = resolvedArgs[0];
            var keys = Object.keys(obj);
            var values = [];
            for (var i = 0; i < keys.length; i++) {
              values.push(obj[keys[i]]);
            }
            return values;
          },
          _functionJoin: function(resolvedArgs) {
            var joinChar = resolvedArgs[0];
            var listJoin = resolvedArgs[1];
            return listJoin.join(joinChar);
          },
          _functionToArray: function(resolvedArgs) {
            if (this._getTypeName(resolvedArgs[0]) === TYPE_ARRAY) {
              return resolvedArgs[0];
            } else {
              return [resolvedArgs[0]];
            }
          },
          _functionToString: function(resolvedArgs) {
            if (this._getTypeName(resolvedArgs[0]) === TYPE_STRING) {
              return resolvedArgs[0];
            } else {
              return JSON.stringify(resolvedArgs[0]);
            }
          },
          _functionToNumber: function(resolvedArgs) {
            var typeName = this._getTypeName(resolvedArgs[0]);
            var convertedValue;
            if (typeName === TYPE_NUMBER) {
              return resolvedArgs[0];
            } else if (typeName === TYPE_STRING) {
              convertedValue = +resolvedArgs[0];
              if (!isNaN(convertedValue)) {
                return convertedValue;
              }
            }
            return null;
          },
          _functionNotNull: function(resolvedArgs) {
            for (var i = 0; i < resolvedArgs.length; i++) {
              if (this._getTypeName(resolvedArgs[i]) !== TYPE_NULL) {
                return resolvedArgs[i];
              }
            }
            return null;
          },
          _functionSort: function(resolvedArgs) {
            var sortedArray = resolvedArgs[0].slice(0);
            sortedArray.sort();
            return sortedArray;
          },
          _functionSortBy: function(resolvedArgs) {
            var sortedArray = resolvedArgs[0].slice(0);
            if (sortedArray.length === 0) {
              return sortedArray;
            }
            var interpreter = this._interpreter;
            var exprefNode = resolvedArgs[1];
            var requiredType = this._getTypeName(
              interpreter.visit(exprefNode, sortedArray[0])
            );
            if ([TYPE_NUMBER, TYPE_STRING].indexOf(requiredType) < 0) {
              throw new Error("TypeError");
            }
            var that = this;
            var decorated = [];
            for (var i = 0; i < sortedArray.length; i++) {
              decorated.push([i, sortedArray[i]]);
            }
            decorated.sort(function(a, b) {
              var exprA = interpreter.visit(exprefNode, a[1]);
              var exprB = interpreter.visit(exprefNode, b[1]);
              if (that._getTypeName(exprA) !== requiredType) {
                throw new Error(
                  "TypeError: expected " + requiredType + ", received " + that._getTypeName(exprA)
                );
              } else if (that._getTypeName(exprB) !== requiredType) {
                throw new Error(
                  "TypeError: expected " + requiredType + ", received " + that._getTypeName(exprB)
                );
              }
              if (exprA > exprB) {
                return 1;
              } else if (exprA < exprB) {
                return -1;
              } else {
                return a[0] - b[0];
              }
            });
            for (var j = 0; j < decorated.length; j++) {
              sortedArray[j] = decorated[j][1];
            }
            return sortedArray;
          },
          _functionMaxBy: function(resolvedArgs) {
            var exprefNode = resolvedArgs[1];
            var resolvedArray = resolvedArgs[0];
            var keyFunction = this.createKeyFunction(exprefNode, [TYPE_NUMBER, TYPE_STRING]);
            var maxNumber = -Infinity;
            var maxRecord;
            var current;
            for (var i = 0; i < resolvedArray.length; i++) {
              current = keyFunction(resolvedArray[i]);
              if (current > maxNumber) {
                maxNumber = current;
                maxRecord = resolvedArray[i];
              }
            }
            return maxRecord;
          },
          _functionMinBy: function(resolvedArgs) {
            var exprefNode = resolvedArgs[1];
            var resolvedArray = resolvedArgs[0];
            var keyFunction = this.createKeyFunction(exprefNode, [TYPE_NUMBER, TYPE_STRING]);
            var minNumber = Infinity;
            var minRecord;
            var current;
            for (var i = 0; i < resolvedArray.length; i++) {
              current = keyFunction(resolvedArray[i]);
              if (current < minNumber) {
                minNumber = current;
                minRecord = resolvedArray[i];
              }
            }
            return minRecord;
          },
          createKeyFunction: function(exprefNode, allowedTypes) {
            var that = this;
            var interpreter = this._interpreter;
            var keyFunc = function(x) {
              var current = interpreter.visit(exprefNode, x);
              if (allowedTypes.indexOf(that._getTypeName(current)) < 0) {
                var msg = "TypeError: expected one of " + allowedTypes + ", received " + that._getTypeName(current);
                throw new Error(msg);
              }
              return current;
            };
            return keyFunc;
          }
        };
        function compile(stream) {
          var parser = new Parser();
          var ast = parser.parse(stream);
          return ast;
        }
        function tokenize(stream) {
          var lexer = new Lexer();
          return lexer.tokenize(stream);
        }
        function search2(data, expression) {
          var parser = new Parser();
          var runtime = new Runtime();
          var interpreter = new TreeInterpreter(runtime);
          runtime._interpreter = interpreter;
          var node = parser.parse(expression);
          return interpreter.search(node, data);
        }
        exports2.tokenize = tokenize;
        exports2.compile = compile;
        exports2.search = search2;
        exports2.strictDeepEqual = strictDeepEqual;
      })(typeof exports === "undefined" ? exports.jmespath = {} : exports);
    }
  });

  // content/steps/dom.ts
  function getter(proto, name) {
    const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
    return (of) => Reflect.apply(get, of, []);
  }
  function method(f) {
    return (of, ...args) => Reflect.apply(f, of, args);
  }
  function setter(proto, name) {
    const set = Object.getOwnPropertyDescriptor(proto, name)?.set;
    return (of, value) => Reflect.apply(set, of, [value]);
  }
  var E = Element.prototype;
  var N = Node.prototype;
  var Input = HTMLInputElement.prototype;
  var attribute = method(E.getAttribute);
  var hasAttribute = method(E.hasAttribute);
  var localName = getter(E, "localName");
  var parentNode = getter(N, "parentNode");
  var firstChild = getter(N, "firstChild");
  var nextSibling = getter(N, "nextSibling");
  var nextElement = getter(E, "nextElementSibling");
  var previousElement = getter(E, "previousElementSibling");
  var nodeType = getter(N, "nodeType");
  var textContent = getter(N, "textContent");
  var isConnected = getter(N, "isConnected");
  var rootOf = method(N.getRootNode);
  var contains = method(N.contains);
  var matchesSelector = method(E.matches);
  var closest = method(E.closest);
  var box = method(E.getBoundingClientRect);
  var rects = method(E.getClientRects);
  var scrollIntoView = method(E.scrollIntoView);
  var scrollBy = method(E.scrollBy);
  var scrollTop = getter(E, "scrollTop");
  var scrollHeight = getter(E, "scrollHeight");
  var clientHeight = getter(E, "clientHeight");
  var dispatch = method(EventTarget.prototype.dispatchEvent);
  var focus = method(HTMLElement.prototype.focus);
  var blur = method(HTMLElement.prototype.blur);
  var nativeClick = method(HTMLElement.prototype.click);
  var tabIndex = getter(HTMLElement.prototype, "tabIndex");
  var isDraggable = getter(HTMLElement.prototype, "draggable");
  var hidePopover = method(HTMLElement.prototype.hidePopover);
  var closeDialog = method(HTMLDialogElement.prototype.close);
  var innerText = getter(HTMLElement.prototype, "innerText");
  var isEditable = getter(HTMLElement.prototype, "isContentEditable");
  var assignedNodes = method(HTMLSlotElement.prototype.assignedNodes);
  var requestSubmit = method(HTMLFormElement.prototype.requestSubmit);
  var formElements = getter(HTMLFormElement.prototype, "elements");
  var formAction = getter(HTMLFormElement.prototype, "action");
  var formMethod = getter(HTMLFormElement.prototype, "method");
  var inputType = getter(Input, "type");
  var inputValue = getter(Input, "value");
  var setInputValue = setter(Input, "value");
  var isChecked = getter(Input, "checked");
  var setInputFiles = setter(Input, "files");
  var stepUp = method(Input.stepUp);
  var stepDown = method(Input.stepDown);
  var areaValue = getter(HTMLTextAreaElement.prototype, "value");
  var selectArea = method(HTMLTextAreaElement.prototype.select);
  var selectInput = method(Input.select);
  var setAreaValue = setter(HTMLTextAreaElement.prototype, "value");
  var selectOptions = getter(HTMLSelectElement.prototype, "options");
  var isMultiple = getter(HTMLSelectElement.prototype, "multiple");
  var isSelected = getter(HTMLOptionElement.prototype, "selected");
  var setSelected = setter(HTMLOptionElement.prototype, "selected");
  var optionLabel = getter(HTMLOptionElement.prototype, "label");
  var optionValue = getter(HTMLOptionElement.prototype, "value");
  var href = getter(HTMLAnchorElement.prototype, "href");
  var execCommand = method(Document.prototype.execCommand);
  var selectionOf = method(Document.prototype.getSelection);
  var selectContents = method(Selection.prototype.selectAllChildren);
  var moveSelection = method(Selection.prototype.modify);
  var baseOf = getter(N, "baseURI");
  var rootElement = getter(Document.prototype, "documentElement");
  var createElement = method(Document.prototype.createElement);
  var append = method(E.append);
  var bodyOf = getter(Document.prototype, "body");
  var scrollerOfPage = getter(Document.prototype, "scrollingElement");
  var frameWindow = getter(HTMLIFrameElement.prototype, "contentWindow");
  var windowOfFrame = getter(HTMLFrameElement.prototype, "contentWindow");
  function scrollBox(element) {
    return { height: scrollHeight(element), top: scrollTop(element), shown: clientHeight(element) };
  }
  function windowOf(element) {
    return isHTML(element, "iframe") ? frameWindow(element) : isHTML(element, "frame") ? windowOfFrame(element) : null;
  }
  var ownerDocument = getter(N, "ownerDocument");
  var shadowRoot = getter(E, "shadowRoot");
  var host = getter(ShadowRoot.prototype, "host");
  var assignedSlot = getter(E, "assignedSlot");
  var checkVisibility = method(E.checkVisibility);
  var QUERY = [
    method(Document.prototype.querySelectorAll),
    method(DocumentFragment.prototype.querySelectorAll),
    method(E.querySelectorAll)
  ];
  var LABELLED = {
    input: Input,
    select: HTMLSelectElement.prototype,
    textarea: HTMLTextAreaElement.prototype,
    button: HTMLButtonElement.prototype,
    meter: HTMLMeterElement.prototype,
    output: HTMLOutputElement.prototype,
    progress: HTMLProgressElement.prototype
  };
  function query(root, selector) {
    const kind = nodeType(root);
    return QUERY[kind === Node.DOCUMENT_NODE ? 0 : kind === Node.DOCUMENT_FRAGMENT_NODE ? 1 : 2](root, selector);
  }
  function documentOf(node) {
    return ownerDocument(node) ?? node;
  }
  function viewOf(node) {
    return defaultView(documentOf(node));
  }
  var defaultView = getter(Document.prototype, "defaultView");
  function elementAt(tree, x, y) {
    return (nodeType(tree) === Node.DOCUMENT_NODE ? atInDocument : atInShadow)(tree, x, y);
  }
  var atInDocument = method(Document.prototype.elementFromPoint);
  var atInShadow = method(ShadowRoot.prototype.elementFromPoint);
  function isHTML(element, ...names) {
    return names.includes(localName(element)) && getNamespace(element) === "http://www.w3.org/1999/xhtml";
  }
  var getNamespace = getter(E, "namespaceURI");
  function shadowOf(element) {
    const open = shadowRoot(element);
    if (open || !localName(element).includes("-")) return open;
    return globalThis.chrome?.dom?.openOrClosedShadowRoot?.(element) ?? null;
  }
  function around(element) {
    const parent = parentNode(element);
    if (!parent) return null;
    const kind = nodeType(parent);
    if (kind === Node.ELEMENT_NODE) return slotOf(element, parent) ?? parent;
    return kind === Node.DOCUMENT_FRAGMENT_NODE && rootOf(parent) === parent && isShadow(parent) ? host(parent) : null;
  }
  function slotOf(element, parent) {
    const slot = assignedSlot(element);
    if (slot) return slot;
    const tree = shadowOf(parent);
    const name = attribute(element, "slot") ?? "";
    for (const other of tree ? query(tree, "slot") : []) if ((attribute(other, "name") ?? "") === name) return other;
    return null;
  }
  function isShadow(node) {
    try {
      return Boolean(host(node));
    } catch {
      return false;
    }
  }
  function outward(element, fits) {
    for (let at = element; at; at = around(at)) if (fits(at)) return at;
    return null;
  }
  function isRendered(element) {
    if (checkVisibility(element, { visibilityProperty: true, contentVisibilityAuto: false })) return true;
    const style = isConnected(element) && viewOf(element)?.getComputedStyle(element);
    if (!style || style.display !== "contents" || style.visibility !== "visible") return false;
    const outer = around(element);
    return outer !== null && isRendered(outer);
  }
  function isVisible(element) {
    if (!isRendered(element)) return false;
    const boxes = rects(element);
    for (const { width, height } of boxes) if (width > 0 && height > 0) return true;
    return boxes.length === 0;
  }
  var known;
  function knowingLabels(look2) {
    const before = known;
    known ??= /* @__PURE__ */ new Map();
    try {
      return look2();
    } finally {
      known = before;
    }
  }
  function labelsOf(element) {
    const proto = LABELLED[localName(element)];
    if (!proto || !isHTML(element, localName(element))) return [];
    if (!known) return [...getter(proto, "labels")(element) ?? []];
    const tree = rootOf(element);
    let all2 = known.get(tree);
    if (!all2) {
      known.set(tree, all2 = /* @__PURE__ */ new Map());
      for (const label of query(tree, "label")) {
        const field = controlOf(label);
        if (field) all2.set(field, [...all2.get(field) ?? [], label]);
      }
    }
    return all2.get(element) ?? [];
  }
  var labelled = getter(HTMLLabelElement.prototype, "control");
  function controlOf(label) {
    return isHTML(label, "label") ? labelled(label) : null;
  }
  function hasFocus(element) {
    const active = activeOf(rootOf(element));
    return active !== null && contains(element, active);
  }
  function focused(tree) {
    const active = activeOf(tree);
    const inner = active && shadowOf(active);
    return inner && focused(inner) || active;
  }
  function activeOf(tree) {
    return nodeType(tree) === Node.DOCUMENT_NODE ? activeInDocument(tree) : isShadow(tree) ? activeInShadow(tree) : null;
  }
  var activeInDocument = getter(Document.prototype, "activeElement");
  var activeInShadow = getter(ShadowRoot.prototype, "activeElement");
  function formOf(element) {
    if (!isHTML(element, "input", "button", "select", "textarea")) return null;
    return getter(LABELLED[localName(element)], "form")(element);
  }
  function selectText(element) {
    (isHTML(element, "textarea") ? selectArea : selectInput)(element);
  }
  function valueOf(element) {
    if (isHTML(element, "input")) return inputValue(element);
    if (isHTML(element, "textarea")) return areaValue(element);
    if (isHTML(element, "select")) {
      const chosen = [...selectOptions(element)].filter((option) => isSelected(option)).map((option) => optionLabel(option).trim());
      return isMultiple(element) ? chosen : chosen[0] ?? "";
    }
    return void 0;
  }
  var UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{NChar}\p{DI}]/gu;
  function clean(text, max = 80) {
    const plain2 = text.slice(0, 40 * max).replace(UNSEEN, "").replace(/(\p{M}{4})\p{M}+/gu, "$1").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
    return plain2.length > max || text.length > 40 * max ? `${plain2.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : plain2;
  }

  // content/steps/failure.ts
  var Failure = class extends Error {
    code;
    /** What of that kind there was on the page. */
    found;
    /** What is known of the step, if it acts. */
    did = "no";
    /** Whether that is certain also of what takes longer than its task. */
    certain = false;
    /** What was done before it failed. */
    words = "";
    /** Whether waiting may help. */
    passing = false;
    constructor(code, message, found2 = []) {
      super(message);
      this.code = code;
      this.found = found2;
    }
    /** Has the step wait, as long as it may take, for this to pass. */
    later() {
      this.passing = true;
      return this;
    }
  };
  function perhaps(look2) {
    try {
      look2();
    } catch (error) {
      if (error instanceof Failure) error.did = "perhaps";
      throw error;
    }
  }

  // roles.ts
  var HEADING = "h1,h2,h3,h4,h5,h6";
  var IMPLICIT = {
    article: "article",
    banner: "header",
    blockquote: "blockquote",
    button: "button,summary,input",
    caption: "caption",
    cell: "td",
    checkbox: "input",
    code: "code",
    columnheader: "th",
    combobox: "select,input",
    complementary: "aside",
    contentinfo: "footer",
    definition: "dd",
    deletion: "del,s",
    dialog: "dialog",
    document: "html",
    emphasis: "em",
    figure: "figure",
    form: "form",
    group: "fieldset,details,optgroup",
    gridcell: "td",
    heading: HEADING,
    img: "img",
    insertion: "ins",
    link: "a,area",
    list: "ul,ol,menu",
    listbox: "select,datalist",
    listitem: "li",
    main: "main",
    meter: "meter",
    navigation: "nav",
    option: "option",
    paragraph: "p",
    progressbar: "progress",
    radio: "input",
    region: "section",
    row: "tr",
    rowgroup: "thead,tbody,tfoot",
    rowheader: "th",
    search: "search",
    searchbox: "input",
    separator: "hr",
    slider: "input",
    spinbutton: "input",
    status: "output",
    strong: "strong",
    subscript: "sub",
    superscript: "sup",
    table: "table",
    term: "dt",
    textbox: "textarea,input,[contenteditable]",
    time: "time"
  };
  var CLAIMED = `alert alertdialog application directory feed generic grid log marquee math menu menubar menuitem menuitemcheckbox menuitemradio none note
presentation progressbar radiogroup scrollbar switch tab tablist tabpanel timer toolbar tooltip tree treegrid treeitem image`.split(/\s+/);
  var ROLES = /* @__PURE__ */ new Set([...Object.keys(IMPLICIT), ...CLAIMED]);

  // content/steps/seen.ts
  var CLEAR = 0.02;
  var ALL = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  var NOTHING = { left: 0, top: 0, right: 0, bottom: 0 };
  function seenAtRoot() {
    return { self: true, text: true, ink: true, now: true, clip: ALL, absolute: ALL, view: windowBox(), moves: false };
  }
  function windowBox() {
    return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  }
  function pageBox() {
    const root = document.documentElement;
    const { overflowX, direction } = getComputedStyle(root);
    const width = Math.max(root.clientWidth, /hidden|clip/.test(overflowX) ? 0 : root.scrollWidth);
    const left = (direction === "rtl" ? root.clientWidth - width : 0) - scrollX;
    return { left, top: -scrollY, right: left + width, bottom: Infinity };
  }
  function seenIn(element, style, outer, page) {
    const { position, display } = style;
    if (style.contentVisibility === "hidden") return "nothing";
    const transparent = Number(style.opacity) < CLEAR || /opacity\(0(\.0\d*)?%?\)/.test(style.filter);
    if (transparent || isCutOff(style, position)) {
      if (!standsForLabel(element)) return transparent ? "transparent" : "nothing";
      return { ...outer, self: true, text: false };
    }
    const isVisibleBox = style.visibility === "visible";
    const ink = hasInk(style);
    if (display === "contents") return { ...outer, self: isVisibleBox, text: isVisibleBox && ink, ink };
    if (element === document.documentElement || element === document.body) return { ...outer, self: isVisibleBox, text: isVisibleBox && ink, ink };
    const rect = box(element);
    const fixed = position === "fixed";
    const clip = fixed ? windowBox() : position === "absolute" ? outer.absolute : outer.clip;
    const view = fixed || position === "absolute" ? windowBox() : outer.view;
    const moves = outer.moves || fixed;
    const inner = cut(rect, clip);
    const self2 = isVisibleBox && (isSize(inner) && (moves || isSize(cut(rect, page))) || standsForLabel(element));
    const now = self2 && isSize(cut(inner, view));
    const spills = isVisibleBox && !self2 && style.overflowX === "visible" && style.overflowY === "visible" && !isSize(rect) && isSize(cut(textBox(element), clip));
    const seen = { self: self2, text: (self2 || spills) && ink, ink, now, clip, absolute: outer.absolute, view, moves };
    const { overflowX: x, overflowY: y } = style;
    if (x !== "visible" || y !== "visible") {
      const scrollsX = /auto|scroll/.test(x);
      const scrollsY = /auto|scroll/.test(y);
      seen.moves ||= scrollsX || scrollsY;
      seen.clip = isSize(inner) ? {
        left: scrollsX ? -Infinity : x === "visible" ? clip.left : inner.left,
        right: scrollsX ? Infinity : x === "visible" ? clip.right : inner.right,
        top: scrollsY ? -Infinity : y === "visible" ? clip.top : inner.top,
        bottom: scrollsY ? Infinity : y === "visible" ? clip.bottom : inner.bottom
      } : NOTHING;
      seen.view = cut(rect, view);
    }
    if (position !== "static") seen.absolute = seen.clip;
    return seen;
  }
  function isTransparent(element) {
    return outward(element, (at) => Number(viewOf(at)?.getComputedStyle(at).opacity ?? 1) < CLEAR) !== null && !standsForLabel(element);
  }
  function standsForLabel(element) {
    return isHTML(element, "input") && /^(checkbox|radio|file)$/.test(inputType(element)) && labelsOf(element).some((label) => isVisible(label));
  }
  function isCutOff(style, position) {
    if (/^(absolute|fixed)$/.test(position) && /^rect\((0px|1px|auto)[, ]+(0px|1px)[, ]+(0px|1px)[, ]+(0px|1px|auto)\)$/.test(style.clip)) return true;
    const path = style.clipPath;
    return path !== "none" && /^(inset\((100|[5-9]\d)%|circle\(0(px|%)?\b|polygon\(0px 0px(, 0px 0px)+\))/.test(path);
  }
  function hasInk(style) {
    if (Number.parseFloat(style.fontSize) < 1 || Number.parseFloat(style.textIndent) < -400) return false;
    return !isClear(style.webkitTextFillColor) || style.backgroundClip.includes("text");
  }
  function isClear(color) {
    return /[,/] ?0(\.0\d*)?\)$/.test(color) && /^(rgba|color|hsla)|\//.test(color);
  }
  function cut(a, b) {
    return { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
  }
  function isSize({ left, top, right, bottom }) {
    return right - left > 0.5 && bottom - top > 0.5 && Math.max(right - left, bottom - top) > 1;
  }
  function textBox(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  }

  // content/steps/refs.ts
  var REF = /^([a-z]{3,8})([1-9]\d{0,8})$/;
  var ITEMS = /^(row|listitem|article|option|treeitem|menuitem)$/;
  var GROUPS = /^(group|radiogroup|dialog|alertdialog)$/;
  var MAX_ITEM = 200;
  var MAX_PLAIN_ITEM = 1e3;
  var LEVELS = 8;
  var MAX_NEAR = 5;
  var HERE = { args: {}, values: {}, inMatch: () => false, outside: "" };
  var References = class {
    tag;
    #known = /* @__PURE__ */ new Map();
    /** Of each element the latest. */
    #latest = /* @__PURE__ */ new WeakMap();
    /** @param tag no other document has */
    constructor(tag) {
      this.tag = tag;
    }
    /**
     * The reference of an element, which is the same as before if the element is.
     * @param items what itemsOf gives, if that is known
     */
    of({ element, role, name, words: words2 }, items = itemsOf(element)) {
      let known2 = this.#latest.get(element);
      if (!known2 || known2.role !== role || known2.name !== name || known2.words !== words2 || known2.items !== items) {
        known2 = { element: new WeakRef(element), number: this.#known.size + 1, role, name, items, words: words2 };
        this.#known.set(known2.number, known2);
        this.#latest.set(element, known2);
      }
      return `${this.tag}${known2.number}`;
    }
    /** The element of a reference. It fails with STALE_REF if that is gone, not seen, or something else by now. */
    find(ref) {
      const [, tag, number2] = REF.exec(ref) ?? [];
      if (!number2) throw new Failure("STALE_REF", `${JSON.stringify(clean(ref, 40))} is no reference`);
      if (tag !== this.tag) throw new Failure("STALE_REF", `${ref} is of another document: what it was shown in is not there any more, or in another frame`);
      const known2 = this.#known.get(Number(number2));
      if (!known2) throw new Failure("STALE_REF", `no look has shown ${ref}`);
      const was = `${ref} was ${known2.words}${known2.items ? ` in ${JSON.stringify(clean(known2.items))}` : ""}`;
      const element = known2.element.deref();
      if (!element || !isConnected(element)) throw this.#stale(`${was}, and that is gone`, known2);
      if (!isVisible(element)) throw this.#stale(`${was}, and that is not seen any more`, known2);
      const found2 = foundOf(element);
      const items = itemsOf(element);
      if (found2.words === known2.words && found2.role === known2.role && found2.name === known2.name && items === known2.items) {
        if (isTransparent(element)) throw new Failure("STALE_REF", `${was}, and that is transparent`).later();
        return found2;
      }
      throw this.#stale(`${was}, and is ${found2.words}${items ? ` in ${JSON.stringify(clean(items))}` : ""} by now`, known2);
    }
    /** What a reference stood for, whatever it is by now. */
    element(ref) {
      const [, tag, number2] = REF.exec(ref) ?? [];
      return tag === this.tag ? this.#known.get(Number(number2))?.element.deref() : void 0;
    }
    #stale(message, { role, name, items }) {
      const wanted = `${name} ${items}`;
      const near = all(role ? { role } : { selector: "[onclick],[tabindex]" }, document, HERE).slice(0, 500).map((element) => ({ element, score: likeness(`${nameOf(element)} ${itemsOf(element)}`, wanted) })).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, MAX_NEAR);
      return new Failure("STALE_REF", message, near.map(({ element }) => this.describe(element)));
    }
    /** An element in words, with its reference and what is around it. */
    describe(element) {
      const found2 = foundOf(element);
      const items = itemsOf(element);
      return `${found2.words} ${this.of(found2, items)}${items ? ` in ${JSON.stringify(clean(items))}` : ""}`;
    }
  };
  var references;
  function referencesOf(tag) {
    if (tag) references ??= new References(tag);
    return references;
  }
  function referenced(target) {
    if (Object.keys(target).length > 1) throw new Failure("STEP_REFUSED", "a target with a reference says nothing else");
    const ref = target.ref;
    if (!references) throw new Failure("STALE_REF", `${clean(ref, 40)} is of another document: no look has shown this one`);
    return references.find(ref);
  }
  function elementOf(ref) {
    return references?.element(ref);
  }
  function itemsOf(element, known2 = /* @__PURE__ */ new Map()) {
    const textOf4 = (item2, max) => {
      let text = known2.get(item2);
      if (text === void 0) known2.set(item2, text = textOfItem(item2, max));
      return text;
    };
    let item = "";
    let group = "";
    let level = 0;
    for (let at = around(element); at && !(item && group); at = around(at), level++) {
      const role = roleOf(at);
      if (!item && ITEMS.test(role)) item = clean(attribute(at, "aria-label") ?? "") || textOf4(at, MAX_ITEM);
      else if (!item && level < LEVELS && !role && isRepeated(at)) {
        const text = textOf4(at, MAX_PLAIN_ITEM + 1);
        if (text.length <= MAX_PLAIN_ITEM && text !== textOfItem(element, MAX_PLAIN_ITEM + 1)) item = text.slice(0, MAX_ITEM);
      }
      if (!group && GROUPS.test(role)) group = nameOf(at, role);
    }
    return [item, group].filter(Boolean).join(" in ");
  }
  function isRepeated(element) {
    const isAlike2 = (other) => other !== null && localName(other) === localName(element) && attribute(other, "class") === attribute(element, "class");
    return isAlike2(nextElement(element)) || isAlike2(previousElement(element));
  }
  function textOfItem(item, max) {
    let text = "";
    const add = (node) => {
      for (let child = firstChild(node); child && text.length < max; child = nextSibling(child)) {
        const type2 = nodeType(child);
        if (type2 === Node.TEXT_NODE) text += textContent(child)?.slice(0, max * 4).replace(/\s+/g, " ") ?? "";
        else if (type2 === Node.ELEMENT_NODE) {
          const element = child;
          if (isHTML(element, "script", "style", "template", "noscript", "select", "textarea", "ul", "ol") || /^(list|group|tree|menu)$/.test(attribute(element, "role") ?? "")) continue;
          text += " ";
          add(shadowOf(element) ?? element);
          text += " ";
        }
      }
    };
    add(shadowOf(item) ?? item);
    return clean(text, max);
  }

  // secretnames.ts
  var NAMES = new RegExp(
    "(^|[^a-z])(" + [
      "pass(word|wd|phrase|code)|pwd|pin( ?code)?|cvc|cvv|cvv2|csc|otp|totp|tan|ssn|social security( (no|number))?|(credit |debit )?card ?(no|num|number)|cc ?(no|num|number)",
      "security ?code|verification ?code|one ?time ?(code|password|pin)|secret|2fa|mfa ?code|(api |access |auth |security )?token|(api|access|private|recovery|backup) ?(key|code)",
      "passwort|kennwort|geheimzahl|kartennummer|pruf(ziffer|nummer)|mot de passe|code (de securite|secret)|numero de (carte|tarjeta)|contrasena|clave|senha|wachtwoord|haslo"
    ].join("|") + ")([^a-z]|$)"
  );
  function isSecretName(name) {
    return NAMES.test(apart(name));
  }
  function apart(text) {
    const plain2 = text.normalize("NFD").replace(/\p{M}/gu, "");
    return plain2.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[\s_.[\]-]+/g, " ").toLowerCase();
  }
  function hasCardNumber(text) {
    return (text.match(/\d(?:[ -]?\d){12,}/g) ?? []).some((digits) => {
      const all2 = digits.replace(/\D/g, "");
      for (let from = 0; from + 13 <= all2.length; from++) {
        for (let length = 13; length <= 19 && from + length <= all2.length; length++) if (isCard(all2.slice(from, from + length))) return true;
        if (all2.length <= 19) return false;
      }
      return false;
    });
  }
  function isCard(digits) {
    if (/^0+$/.test(digits)) return false;
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
      const twice = Number(digits.at(-1 - i)) * (i % 2 ? 2 : 1);
      sum += twice > 9 ? twice - 9 : twice;
    }
    return sum % 10 === 0;
  }

  // content/steps/secret.ts
  var FIELDS = /\b(textbox|searchbox|combobox|spinbutton|slider)\b/i;
  var TOKENS = /^(current-password|new-password|one-time-code|cc-.+)$/;
  var were = /* @__PURE__ */ new WeakSet();
  var watched = /* @__PURE__ */ new WeakSet();
  function watchPasswords(tree) {
    if (watched.has(tree)) return;
    watched.add(tree);
    for (const element of query(tree, "input[type=password i]")) were.add(element);
    new MutationObserver((changes3) => {
      for (const { target, oldValue } of changes3) if (oldValue?.toLowerCase() === "password") were.add(target);
    }).observe(tree, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
  }
  function secret(element, name) {
    if (isHTML(element, "input") && inputType(element) === "password") were.add(element);
    if (were.has(element)) return "a password";
    const isField2 = isHTML(element, "input", "select", "textarea") || attribute(element, "contenteditable") !== null || FIELDS.test(attribute(element, "role") ?? "");
    if (!isField2) return "";
    if ((viewOf(element)?.getComputedStyle(element).getPropertyValue("-webkit-text-security") || "none") !== "none") return "a secret, whose text its page hides";
    if (isHTML(element, "input") && /^(button|submit|reset|image|checkbox|radio|range|color|file|hidden)$/.test(inputType(element))) return "";
    const tokens = (attribute(element, "autocomplete") ?? "").toLowerCase().split(/\s+/).filter((token) => token && !/^(on|off)$/.test(token));
    const names = [name, attribute(element, "name"), attribute(element, "id"), attribute(element, "placeholder")];
    const is = tokens.length > 0 ? tokens.some((token) => TOKENS.test(token)) : names.some((text) => isSecretName(text ?? ""));
    return is ? "a secret, such as a password, a card number or a code" : "";
  }
  function tells(element, name) {
    const value = name.length < MIN ? void 0 : valueOf(element);
    return typeof value === "string" && value.length >= MIN && name.includes(value) && secret(element, "") !== "";
  }
  var MIN = 4;
  function isInParts(field) {
    const max = attribute(field, "maxlength") ?? "";
    if (!isHTML(field, "input") || !/^[1-4]$/.test(max)) return false;
    const form = formOf(field);
    let like = 0;
    for (const at of form ? formElements(form) : query(documentOf(field), "input[maxlength]")) {
      if (isHTML(at, "input") && attribute(at, "maxlength") === max && ++like === 3) return true;
    }
    return false;
  }

  // content/steps/values.ts
  var import_jmespath = __toESM(require_jmespath());

  // ../pagejs/values.ts
  var Limit = Object.freeze({
    items: 1024,
    // of each kind
    name: 128,
    title: 256,
    description: 4096,
    schema: 64 << 10,
    other: 16 << 10,
    // annotations, _meta, icons
    uri: 2048,
    offer: 8 << 20,
    // all items of one kind together
    answer: 30 << 20,
    // one result
    error: 16e3,
    // an error's text
    message: 4096
    // that of a progress notice
  });
  var Values = class _Values {
    /** How much of what the hub leaves out is said in the console of a document. */
    static #maxWarned = 1e3;
    /** What was said of that. */
    static #warned = /* @__PURE__ */ new Set();
    static isObject(value) {
      return typeof value === "object" && value !== null && !Array.isArray(value);
    }
    /**
     * Makes the JSON of a CallToolResult from what executeTool of WebMCP resolves to. The browser's
     * gives a text: an object as JSON, all else as it is. A library may give the value itself, which
     * is first made the text that the browser would make of it.
     *
     *   text of the browser                   content                   structuredContent
     *   {"content":[{…},…],…}                 its own                   its own
     *   {"structuredContent":{…},…}           its own                   its own
     *   a question (MCP's input_required)     its own                   its own
     *   {…}                                   the text                  the object
     *   else: a string, [1,2], 5, undefined   the text                  none
     *
     * The hub mends what in its own content is no block of MCP.
     */
    static callToolResult(given) {
      const text = _Values.#text(given);
      let value;
      try {
        value = JSON.parse(text);
      } catch {
        return _Values.textResult(text);
      }
      if (!_Values.isObject(value)) return _Values.textResult(text);
      if (Array.isArray(value.content) && value.content.every(_Values.isObject)) return text;
      if (_Values.isObject(value.structuredContent)) return text;
      if (value.resultType === "input_required" && _Values.isObject(value.inputRequests)) return text;
      return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
    }
    /**
     * Whether a tool gave nothing, by its result: if the document then gives way to another one,
     * what that one says is the result.
     */
    static isNothing(result) {
      return result === _Values.SUBMITTED || result === _Values.textResult("undefined") || result === _Values.textResult("null");
    }
    static #text(given) {
      if (typeof given === "string") return given;
      const structured = typeof given === "object" && given !== null || typeof given === "function";
      return String(structured ? JSON.stringify(given) : given);
    }
    /** An id that cannot be guessed. crypto.randomUUID exists in secure contexts only. */
    static randomID() {
      return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    }
    static textResult(text) {
      return JSON.stringify({ content: [{ type: "text", text }] });
    }
    /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
    static SUBMITTED = this.textResult("The form was submitted.");
    /**
     * Says in the page's console what the hub has left out of a registration or lists otherwise, each
     * of it once.
     * @param answer the hub's
     */
    static warn(kind, { rejected, warnings }) {
      for (const { name, reason } of rejected ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
      }
      for (const { name, reason } of warnings ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
      }
    }
    static warnOf({ tools, resources, prompts }) {
      _Values.warn("tool", tools);
      _Values.warn("resource", resources);
      _Values.warn("prompt", prompts);
    }
    static #isFirst(...what) {
      const key = JSON.stringify(what);
      if (_Values.#warned.has(key) || _Values.#warned.size >= _Values.#maxWarned) return false;
      _Values.#warned.add(key);
      return true;
    }
    /** The text of something thrown, be it an error, what some libraries throw instead, or a word. */
    static errorText(error) {
      let text = "";
      try {
        const { message } = Object(error);
        text = typeof message === "string" && message || String(error);
        if (Object(error) === error && !(error instanceof Error) && (Array.isArray(error) || text.startsWith("[object "))) {
          text = "";
          text = JSON.stringify(error) ?? "";
          if (text === "{}") text = "";
        }
      } catch {
      }
      return (text || "the page's tool failed without saying why").slice(0, Limit.error);
    }
  };

  // content/steps/values.ts
  var ABSENT = /* @__PURE__ */ Symbol("absent");
  function valueOf2(value, given) {
    if (typeof value === "string") return filled(value, given);
    if (!Values.isObject(value)) return value;
    const { arg, from } = value;
    if (Object.keys(value).length !== 1) return value;
    if (arg && typeof arg === "string") return argument(arg, given);
    return from && typeof from === "string" ? evaluate(from, given) : value;
  }
  function bodyOf2(value, given) {
    if (Array.isArray(value)) return value.map((element) => bodyOf2(element, given)).filter((element) => element !== ABSENT);
    const own = valueOf2(value, given);
    if (own !== value || !Values.isObject(own)) return own;
    const members = Object.entries(own).map(([name, member]) => [name, bodyOf2(member, given)]);
    return Object.fromEntries(members.filter(([, member]) => member !== ABSENT));
  }
  function filled(text, given) {
    if (given.literal) return text;
    let absent = false;
    const all2 = text.replace(ARGUMENT, (_, name) => {
      const value = argument(name, given);
      absent ||= value === ABSENT;
      return value === ABSENT ? "" : plain(value, name);
    });
    return absent ? ABSENT : all2;
  }
  var ARGUMENT = /\$\{([^{}]+)\}/g;
  function argument(name, { args }) {
    const value = Object.hasOwn(args, name) ? args[name] : void 0;
    return value === void 0 || value === null ? ABSENT : value;
  }
  function plain(value, name) {
    if (["string", "number", "boolean"].includes(typeof value)) return String(value);
    throw new Failure("STEP_REFUSED", `${name} is not a text, a number, true or false`);
  }
  function textOf(text, given) {
    const all2 = filled(text, given);
    if (all2 !== ABSENT) return all2;
    throw new Failure("STEP_REFUSED", `the call lacks an argument of ${JSON.stringify(text)}`);
  }
  function pathOf(path, given) {
    if (given.literal) return path;
    const names = [...path.matchAll(ARGUMENT)].map(([, name]) => name);
    for (const name of names) {
      const value = argument(name, given);
      if (value === ABSENT) throw new Failure("STEP_REFUSED", `the call lacks the argument ${name}, which the path ${path} needs`);
      if (!/^[^/\\?#%\u0000-\u001f\u007f]+$/.test(plain(value, name))) {
        throw new Failure("STEP_REFUSED", `the argument ${name} is empty or has one of / \\ ? # %, which a path cannot have in one segment`);
      }
    }
    const all2 = path.replace(ARGUMENT, (_, name) => encodeURIComponent(plain(argument(name, given), name)));
    if (!all2.startsWith("/") || /\/\/|\/(\.|%2e){1,2}(\/|$)/i.test(all2)) throw new Failure("STEP_REFUSED", `${all2} is not a plain path`);
    return all2;
  }
  function fieldsOf(fields, given) {
    return Object.entries(fields).flatMap(([name, member]) => {
      const value = valueOf2(member, given);
      if (value === ABSENT || value === null || value === void 0) return [];
      return (Array.isArray(value) ? value : [value]).map((one2) => [name, plain(one2, name)]);
    });
  }
  function evaluate(expression, { args, values }) {
    const { "": _, ...named5 } = values;
    return take({ ...named5, args }, expression);
  }
  function take(data, expression) {
    try {
      return (0, import_jmespath.search)(bare(data), expression) ?? null;
    } catch (error) {
      throw new Failure("STEP_ANSWER", `${expression} does not fit what was read: ${Values.errorText(error)}`);
    }
  }
  var INHERITED = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });
  function bare(value) {
    if (Array.isArray(value)) return value.map(bare);
    if (!Values.isObject(value)) return value;
    const copy = Object.create(INHERITED);
    for (const [name, member] of Object.entries(value)) Object.defineProperty(copy, name, { value: bare(member), enumerable: true, configurable: true, writable: true });
    return copy;
  }
  function numberIn(text, language) {
    const spaced = /\s/.test(markOf("group", language));
    const found2 = NUMBER.exec(spaced ? text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, " ") : text);
    if (!found2) return void 0;
    const [, before, digits] = found2;
    const marks = digits.replace(/\d/g, "");
    const last = marks.at(-1) ?? "";
    let decimal = /[.,]/.test(last) && marks.indexOf(last) === marks.length - 1;
    if (decimal && /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) decimal = last === markOf("decimal", language);
    const at = decimal ? digits.lastIndexOf(last) : digits.length;
    const value = Number(`${digits.slice(0, at).replace(/\D/g, "")}.${digits.slice(at + 1)}0`);
    return /[-−]/.test(before) ? -value : value;
  }
  var NUMBER = /((?:(?<![\p{L}\p{N}])[-−]\p{Sc}?)?)(\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*)/u;
  function markOf(type2, language) {
    try {
      return new Intl.NumberFormat(language || "en").formatToParts(10000.5).find((part) => part.type === type2)?.value ?? "";
    } catch {
      return markOf(type2, "en");
    }
  }

  // content/steps/find.ts
  var ASKED = ["a", "area", "input", "select", "textarea", "img", "td", "th", "header", "footer", "section", "form", "[contenteditable]"];
  var BY_NAME = new Map(
    Object.entries(IMPLICIT).flatMap(([role, names]) => names.split(",").filter((name) => !ASKED.includes(name)).map((name) => [name, role]))
  );
  var BY_TYPE = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    text: "textbox",
    email: "textbox",
    tel: "textbox",
    url: "textbox"
  };
  var BY_CONTENT = /^(button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem|listitem|term|definition|paragraph|caption|status|alert)$/;
  var isNamedByContent = (role) => BY_CONTENT.test(role);
  var FIELDS2 = /^(textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton)$/;
  function roleOf(element) {
    const claimed = (attribute(element, "role") ?? "").toLowerCase().split(/\s+/).find((role2) => ROLES.has(role2)) ?? "";
    if (claimed === "image") return "img";
    const none = /^(none|presentation|generic)$/.test(claimed);
    if (claimed && !none) return claimed;
    if (none && !isHTML(element, "button", "input", "select", "textarea", "a")) return "";
    const name = localName(element);
    if (!isHTML(element, name)) return "";
    switch (name) {
      case "a":
      case "area":
        return hasAttribute(element, "href") ? "link" : "";
      case "input": {
        const role2 = BY_TYPE[inputType(element)] ?? "";
        return role2 === "textbox" && hasAttribute(element, "list") ? "combobox" : role2;
      }
      case "select":
        return hasAttribute(element, "multiple") || Number(attribute(element, "size")) > 1 ? "listbox" : "combobox";
      case "textarea":
        return "textbox";
      case "img":
        return attribute(element, "alt") === "" ? "" : "img";
      case "td":
        return /^(grid|treegrid)$/.test(attribute(closest(element, "table") ?? element, "role") ?? "") ? "gridcell" : "cell";
      case "th":
        return attribute(element, "scope") === "row" ? "rowheader" : "columnheader";
      case "header":
      case "footer": {
        const part = around(element);
        const inner = part && outward(part, (at) => isHTML(at, "article", "aside", "main", "nav", "section"));
        return inner ? "" : name === "header" ? "banner" : "contentinfo";
      }
      case "section":
        return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? "region" : "";
      case "form":
        return "form";
    }
    const role = BY_NAME.get(name);
    if (role) return role;
    return isEditor(element) ? "textbox" : "";
  }
  function isEditor(element) {
    return hasAttribute(element, "contenteditable") && isEditable(element);
  }
  function nameOf(element, role = roleOf(element)) {
    const tree = rootOf(element);
    const ids = (attribute(element, "aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const named5 = ids.map((id) => [...query(tree, `#${CSS.escape(id)}`)].slice(0, 1).map((of) => line(attribute(of, "aria-label") ?? textContent(of)))).flat();
    const labels = labelsOf(element);
    const name = line(named5.join(" ")) || line(attribute(element, "aria-label")) || line(labels.map((label) => textIn(label, element)).join(" ")) || line(ofHTML(element)) || (BY_CONTENT.test(role) ? line(textIn(element)) : "") || line(attribute(element, "title")) || line(attribute(element, "placeholder")) || line(attribute(element, "aria-placeholder"));
    return tells(element, name) ? "" : name;
  }
  var MAX_READ = 1e4;
  function line(text) {
    return (text ?? "").slice(0, MAX_READ).replace(UNSEEN, "").replace(/\s+/g, " ").trim();
  }
  function ofHTML(element) {
    const first = (names) => {
      for (const child of query(element, `:scope > ${names}`)) return textIn(child);
      return "";
    };
    if (isHTML(element, "img", "area")) return attribute(element, "alt");
    if (isHTML(element, "input")) {
      const type2 = inputType(element);
      if (type2 === "image") return attribute(element, "alt");
      if (type2 === "submit") return hasAttribute(element, "value") ? inputValue(element) : "Submit";
      if (type2 === "reset") return hasAttribute(element, "value") ? inputValue(element) : "Reset";
      return type2 === "button" ? inputValue(element) : "";
    }
    if (isHTML(element, "fieldset")) return first("legend");
    if (isHTML(element, "table")) return first("caption");
    if (isHTML(element, "optgroup", "option")) return attribute(element, "label");
    if (localName(element) === "svg") return first("title");
    return "";
  }
  function textIn(element, without2) {
    if (element === without2 || attribute(element, "aria-hidden") === "true") return "";
    const name = localName(element);
    if (isHTML(element, "input", "select", "textarea", "script", "style", "noscript", "template")) return "";
    const called = without2 || name === "slot" ? "" : line(attribute(element, "aria-label"));
    if (called) return called;
    if (isHTML(element, "img")) return attribute(element, "alt") ?? "";
    const children = isHTML(element, "slot") ? assignedNodes(element, { flatten: true }) : void 0;
    let text = "";
    for (const child of children ?? nodesOf(shadowOf(element) ?? element)) {
      if (nodeType(child) === Node.TEXT_NODE) text += textContent(child);
      else if (nodeType(child) === Node.ELEMENT_NODE) {
        const style = viewOf(child)?.getComputedStyle(child);
        if (!style || style.display === "none" || style.visibility !== "visible") continue;
        const inner = textIn(child, without2);
        text += style.display === "inline" ? inner : ` ${inner} `;
      }
    }
    return text;
  }
  function* nodesOf(of) {
    for (let node = firstChild(of); node; node = nextSibling(node)) yield node;
  }
  function words(element, role = roleOf(element), name = nameOf(element, role)) {
    const kind = role || kindOf(element);
    const shown2 = clean(!role || BY_CONTENT.test(role) ? plainText(element) : "");
    const called = clean(name);
    const also = shown2 && (!called || !overlap(shown2, called)) ? ` that shows ${JSON.stringify(shown2)}` : "";
    return `${kind}${called ? ` ${JSON.stringify(called)}` : also ? "" : " without a name"}${also}`;
  }
  function kindOf(element) {
    if (isField(element)) return "field";
    const name = localName(element);
    return /^(h[1-6]|[a-z]{1,20}(-[a-z-]{1,20})?)$/.test(name) ? name : "element";
  }
  function plainText(element) {
    return isHTML(element, localName(element)) ? line(innerText(element)) : "";
  }
  function overlap(a, b) {
    const [x, y] = [a, b].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
    return !x || !y || x.includes(y) || y.includes(x);
  }
  function one(target, root, scope) {
    return foundOf(oneOf(target, root, scope, isVisible));
  }
  function oneOf(target, root, scope, isThere) {
    if (target.ref) return referenced(target).element;
    const found2 = all(target, root, scope, isThere);
    const { nth = 0 } = target;
    const chosen = nth ? found2.at(nth > 0 ? nth - 1 : nth) : found2.length === 1 ? found2[0] : void 0;
    if (chosen) return chosen;
    if (found2.length === 0) throw missing(target, root, scope);
    if (nth) throw new Failure("STEP_NOT_FOUND", `there are only ${found2.length} of ${describe(target, scope)}, not ${Math.abs(nth)}`, named(found2)).later();
    throw new Failure("STEP_AMBIGUOUS", `there are ${found2.length} of ${describe(target, scope)}`, named(found2)).later();
  }
  function foundOf(element) {
    const role = roleOf(element);
    const name = nameOf(element, role);
    return { element, role, name, words: words(element, role, name) };
  }
  function all(target, root, scope, isThere = isVisible) {
    if (target.ref) return referencedIfThere(target);
    const fits = fitting(target, scope);
    return knowingLabels(
      () => candidates(target, baseOf2(target, root, scope), scope).filter((element) => fits(element) && isThere(element) && (target.selector || isExposed(element)))
    );
  }
  function referencedIfThere(target) {
    try {
      return [referenced(target).element];
    } catch (error) {
      if (error instanceof Failure && error.code === "STALE_REF") return [];
      throw error;
    }
  }
  function baseOf2({ in: outer }, root, scope) {
    return outer ? oneOf(outer, root, scope, isRendered) : root;
  }
  function fitting({ role: wanted, name, label, selector }, scope) {
    const role = wanted === "image" ? "img" : wanted;
    if (role || name) {
      const named5 = name ? nameTest(name, scope) : () => true;
      return (element) => (!role || roleOf(element) === role) && named5(nameOf(element));
    }
    if (label) {
      const named5 = nameTest(label, scope);
      return (element) => isField(element) && named5(nameOf(element));
    }
    if (selector) return () => true;
    throw new Failure("STEP_REFUSED", "a target says neither role, label nor selector");
  }
  function isField(element) {
    return FIELDS2.test(roleOf(element)) || isHTML(element, "input") && !BY_TYPE[inputType(element)];
  }
  function nameTest(name, scope) {
    const [, before, text, after] = /^(\.\.\.)?(.*?)(\.\.\.)?$/s.exec(name);
    const wanted = line(textOf(text, scope));
    if (before && after) return (is) => is.includes(wanted);
    if (before) return (is) => is.endsWith(wanted);
    return after ? (is) => is.startsWith(wanted) : (is) => is === wanted;
  }
  function candidates({ role, label, selector }, root, scope) {
    const css = role ? `${IMPLICIT[role === "image" ? "img" : role] ?? "[role]"},[role]` : label ? "input,select,textarea,[contenteditable],[role]" : selector ?? "*";
    try {
      return inTree(root, css, scope);
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure("STEP_REFUSED", `${JSON.stringify(clean(css))} is no selector`);
    }
  }
  function inTree(root, css, scope) {
    const found2 = new Set(query(root, css));
    const inner = [];
    if (nodeType(root) === Node.ELEMENT_NODE) for (const tree of treesOf(root, scope)) inner.push([root, tree]);
    for (const element of query(root, "*")) for (const tree of treesOf(element, scope)) inner.push([element, tree]);
    if (inner.length === 0) return [...found2];
    const order = [];
    const nested = /* @__PURE__ */ new Map();
    for (const [element, tree] of inner) {
      watchPasswords(tree);
      nested.set(element, inTree(tree, css, scope));
    }
    if (nodeType(root) === Node.ELEMENT_NODE) order.push(...nested.get(root) ?? []);
    for (const element of query(root, "*")) {
      if (found2.has(element)) order.push(element);
      const more = nested.get(element);
      if (more) order.push(...more);
    }
    return order;
  }
  function treesOf(element, scope) {
    const shadow = shadowOf(element);
    if (shadow) return [shadow];
    const framed = isHTML(element, "iframe") && isVisible(element) ? frameDocument(element, scope) : void 0;
    return framed ? [framed] : [];
  }
  function frameDocument(element, scope) {
    const view = frameWindow(element);
    try {
      if (!view || view.origin !== self.origin) return void 0;
      const { href: href2 } = view.location;
      return /^about:(blank|srcdoc)/.test(href2) || scope.inMatch(href2) ? view.document : void 0;
    } catch {
      return void 0;
    }
  }
  function isExposed(element) {
    return !outward(element, (at) => attribute(at, "aria-hidden") === "true" || hasAttribute(at, "inert"));
  }
  function describe(target, scope) {
    const { role, name, label, selector, ref } = target;
    if (ref) return clean(ref, 40);
    const text = name ?? label;
    const called = text ? ` ${JSON.stringify(clean(textOf(text, scope)))}` : "";
    const what = role ? `${role}${called}` : label ? `field${called}` : JSON.stringify(clean(selector ?? ""));
    return target.in ? `${what} in ${describe(target.in, scope)}` : what;
  }
  function named(elements) {
    return elements.slice(0, 5).map((element) => words(element));
  }
  function missing(target, root, scope) {
    const { role, name, label } = target;
    const wanted = name ?? label;
    let near = [];
    if (wanted) {
      const kind = candidates(target, baseOf2(target, root, scope), scope).filter((element) => role ? roleOf(element) === role : isField(element));
      const text = textOf(wanted, scope);
      near = knowingLabels(() => kind.slice(0, 500).map((element) => ({ element, score: likeness(nameOf(element), text) }))).sort((a, b) => b.score - a.score).map(({ element }) => element).filter((element) => isVisible(element) && isExposed(element));
    }
    return new Failure("STEP_NOT_FOUND", `there is no ${describe(target, scope)}`, named(near)).later();
  }
  function likeness(a, b) {
    const pairs = (text) => new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.toLowerCase().slice(i, i + 2)));
    const [x, y] = [pairs(a.slice(0, 200)), pairs(b)];
    return x.size + y.size ? 2 * [...x].filter((pair) => y.has(pair)).length / (x.size + y.size) : 0;
  }
  function isOfRun(element, scope) {
    const at = documentOf(element);
    if (at === document) return true;
    const view = at.defaultView;
    const frame = view?.frameElement;
    return frame ? frameDocument(frame, scope) === at && isOfRun(frame, scope) : false;
  }

  // content/steps/destination.ts
  function check(element, scope, submits = false) {
    if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("NEEDS_TRUSTED_INPUT", `browsers let only a person choose files${scope.literal ? "; the step upload puts files there" : ""}`);
    if (isHTML(element, "option", "select")) throw new Failure("STEP_REFUSED", `an option is chosen with ${scope.literal ? "select" : "fill"}, by its label`);
    const link = linkAround(element);
    const to = link && (attribute(link, "href") ?? attribute(link, "xlink:href"));
    if (link && to !== null) leads(isHTML(link, "a") ? href(link) : absolute(to, link), attribute(link, "target"), scope, link);
    const label = outward(element, (at) => isHTML(at, "label"));
    const control = label && controlOf(label);
    if (control && !outward(element, (at) => at === control)) check(control, scope);
    const button = submits ? null : submitterOf(element);
    const form = submits ? formOf(element) : button && formOf(button);
    if (form) checkForm(form, submits ? defaultButton(form) : button, scope);
  }
  function linkAround(element) {
    return outward(element, (at) => /^(a|area)$/.test(localName(at)) && (hasAttribute(at, "href") || hasAttribute(at, "xlink:href")));
  }
  var SCRIPT = /^javascript:(?!\s*(void\b\s*\(?\s*\d*\s*\)?)?\s*;*\s*(\/\/.*)?$)/i;
  var FOR_A_PERSON = "a script as an address, which browsers run only for a person";
  function followed(element, left) {
    const link = left ? linkAround(element) : null;
    if (!link || !SCRIPT.test(attribute(link, "href") ?? "")) return;
    throw Object.assign(new Failure("NEEDS_TRUSTED_INPUT", `${words(link)} has ${FOR_A_PERSON}`), { did: "perhaps" });
  }
  function checkForm(form, button, scope) {
    const own = (name) => button && hasAttribute(button, `form${name}`) ? attribute(button, `form${name}`) : null;
    if ((own("method") ?? formMethod(form)).toLowerCase() === "dialog") return;
    const action = own("action");
    const to = action === null ? formAction(form) : absolute(action || location.href, form);
    if (SCRIPT.test(to)) throw new Failure("NEEDS_TRUSTED_INPUT", `${words(form)} has ${FOR_A_PERSON}`);
    leads(to, own("target") ?? attribute(form, "target"), scope, form);
  }
  function absolute(to, element) {
    const base = baseOf(element);
    return URL.canParse(to, base) ? new URL(to, base).href : to;
  }
  function leads(to, target, scope, element) {
    if (!URL.canParse(to)) throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, which is no address`);
    const { protocol, origin, pathname } = new URL(to);
    if (protocol === "javascript:") return;
    if (!scope.inMatch(to) && !(isHTML(element, "form") && scope.inMatch(`${origin}${pathname}?`)) && !isHere(to)) {
      throw new Failure("STEP_REFUSED", `${words(element)} leads to ${clean(to, 200)}, ${scope.outside}`);
    }
    const name = (target || [...query(documentOf(element), "base[target]")].map((base) => attribute(base, "target"))[0] || "_self").toLowerCase();
    if (/^_(self|top|parent)$/.test(name)) return;
    const frame = [...query(documentOf(element), "iframe[name]")].find((frame2) => attribute(frame2, "name")?.toLowerCase() === name);
    if (frame && frameWindow(frame)) return;
    const instead = scope.literal && !isHTML(element, "form") ? `; browser_tab new does it, with the address ${clean(to, 2e3)}` : "";
    throw new Failure("NEEDS_TRUSTED_INPUT", `${words(element)} opens another tab, which browsers let only a person do${instead}`);
  }
  function isHere(to) {
    return to.split("#")[0] === location.href.split("#")[0];
  }
  function submitterOf(element) {
    return outward(element, (at) => isHTML(at, "input") && /^(submit|image)$/.test(inputType(at)) || isHTML(at, "button") && !/^(button|reset)$/i.test(attribute(at, "type") ?? ""));
  }
  function defaultButton(form) {
    const doc = documentOf(form);
    return [...query(doc, "button,input[type=submit i],input[type=image i]")].find((at) => submitterOf(at) === at && formOf(at) === form);
  }

  // content/framepath.ts
  function frameIndex(frame) {
    const { parent } = frame;
    let index = parent.length - 1;
    while (index >= 0 && parent[index] !== frame) index--;
    return index;
  }

  // content/steps/leads.ts
  function resolve(refs) {
    return refs.map((ref) => {
      try {
        const { element, words: words2 } = referenced({ ref });
        const leads4 = leadsTo(element);
        const view = windowOf(element);
        return { ref, words: words2, ...leads4 && { leads: leads4 }, ...view && { index: frameIndex(view) } };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return { ref, stale: error.message, ...error.found.length > 0 && { near: error.found } };
      }
    });
  }
  function leadsTo(element) {
    const to = linkOf(element) ?? actionOf(element);
    if (to === void 0 || !URL.canParse(to)) return void 0;
    const { protocol, origin } = new URL(to);
    return /^https?:$/.test(protocol) ? origin : void 0;
  }
  function linkOf(element) {
    const link = linkAround(element);
    if (!link) return void 0;
    return isHTML(link, "a") && hasAttribute(link, "href") ? href(link) : absolute(attribute(link, "href") ?? attribute(link, "xlink:href") ?? "", link);
  }
  function actionOf(element) {
    const button = submitterOf(element);
    const form = button && formOf(button);
    if (!button || !form) return void 0;
    if ((attribute(button, "formmethod") ?? formMethod(form)).toLowerCase() === "dialog") return void 0;
    return hasAttribute(button, "formaction") ? absolute(attribute(button, "formaction") ?? "", button) : formAction(form);
  }

  // tokens.ts
  var RUNS = [
    ["[A-Z]?[a-z]+", 0.85, 0.17],
    ["[A-Z]+", 0.65, 0.5],
    ["\\d+", 0.7, 1 / 3],
    [" +", 0, 0.08],
    ["\\n", 0, 1],
    ["[!-~]", 0, 0.85],
    ["[\\u00a0-\\u024f]+", 0.5, 0.8],
    ["[\\u0400-\\u04ff]+", 0.4, 0.7],
    ["[\\u0600-\\u06ff]+", 0.4, 1.05],
    ["[\\u0370-\\u03ff]+", 0.5, 1.2],
    ["[\\u3000-\\u9fff\\uac00-\\ud7af]+", 0, 1.6],
    ["[^]", 0, 1.9]
  ];
  var ANY = new RegExp(RUNS.map(([signs]) => `(${signs})`).join("|"), "g");
  function tokensIn(text) {
    let count2 = 0;
    for (const [run, ...of] of text.matchAll(ANY)) {
      const [, once, each] = RUNS[of.findIndex((part) => part !== void 0)];
      count2 += once + each * run.length;
    }
    return Math.ceil(count2);
  }

  // looklines.ts
  var MAX_ALIKE = 10;
  var FOLDED = 4;
  var MAX_FOUND = 30;
  var IN_VIEW = 0.4;
  var NOTE = 16;
  var KINDS = { a: "act", p: "place", t: "text", f: "frame" };
  function encode(lines) {
    return lines.map(({ depth, kind, view, ref, frame = "", text }) => `${depth} ${kind[0]} ${view ? 1 : 0} ${ref} ${frame} ${text}`).join("\n");
  }
  function decode(text) {
    if (!text) return [];
    return text.split("\n").map((line2) => {
      const [, depth, kind, view, ref, frame, rest] = /^(\d+) (\w) ([01]) (\w*) (-?\d*) (.*)$/s.exec(line2);
      return { depth: Number(depth), kind: KINDS[kind], view: view === "1", ref, text: rest, ...frame && { frame: Number(frame) } };
    });
  }
  function show(all2, { depth = 0, find = "", maxTokens, before, scoped = false }) {
    if (find) return found(all2, find, maxTokens);
    const flat = depth ? all2.filter((line2) => line2.depth < depth) : all2;
    const whole = within(scoped ? flat : folded(flat), maxTokens, all2.length - flat.length);
    if (!before) return whole;
    const changed2 = within(changes(before, all2), maxTokens, 0);
    return size(changed2) < size(whole) ? { ...changed2, changes: true } : whole;
  }
  function size({ lines }) {
    return lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  }
  function indented({ depth, text }) {
    return "  ".repeat(Math.min(depth, 40)) + text;
  }
  function parentsOf(lines) {
    const open = [];
    return lines.map(({ depth }, i) => {
      while (open.length && lines[open[open.length - 1]].depth >= depth) open.pop();
      const parent = open.length ? open[open.length - 1] : -1;
      open.push(i);
      return parent;
    });
  }
  function folded(lines) {
    const out = [];
    for (let i = 0; i < lines.length; ) {
      let end2 = i;
      while (end2 < lines.length && isAlike(lines[i], lines[end2])) end2++;
      const alike = end2 - i;
      if (alike <= MAX_ALIKE + FOLDED) {
        out.push(...lines.slice(i, Math.max(end2, i + 1)));
        i = Math.max(end2, i + 1);
        continue;
      }
      out.push(...lines.slice(i, i + MAX_ALIKE));
      out.push({ ...lines[i], ref: "", view: false, more: alike - MAX_ALIKE, text: leftOut(alike - MAX_ALIKE, "like these ", placeOf(lines, i)) });
      i = end2;
    }
    return out;
  }
  function isAlike(a, b) {
    return a.kind === "text" && b.kind === "text" && a.depth === b.depth && a.of === b.of && kindOf2(a.text) === kindOf2(b.text);
  }
  function kindOf2(text) {
    return /^[^"\d]*/.exec(text)?.[0] ?? "";
  }
  function placeOf(lines, at) {
    let { depth } = lines[at];
    for (let i = at - 1; i >= 0 && depth > 0; i--) {
      if (lines[i].depth >= depth) continue;
      if (lines[i].ref) return lines[i].ref;
      depth = lines[i].depth;
    }
    return "";
  }
  function leftOut(count2, what, ref) {
    return `... ${count2} more ${what}${count2 === 1 ? "line" : "lines"}${ref ? `, scope ${ref}` : ""}`;
  }
  function within(lines, maxTokens, deeper) {
    const cost = (line2) => tokensIn(`${indented(line2)}
`);
    const least = lines.reduce((sum, { text }) => sum + text.length / 20, 0);
    if (least <= maxTokens && lines.reduce((sum, line2) => sum + cost(line2), 0) <= maxTokens) return { lines: lines.map((line2) => ({ of: line2.of ?? 0, text: indented(line2) })), left: lines.reduce((sum, { more = 0 }) => sum + more, deeper), changes: false };
    const parents = parentsOf(lines);
    const places = new Set(parents);
    const taken = new Uint8Array(lines.length);
    let left = Math.max(0, maxTokens - NOTE * 3);
    const take3 = (i, floor) => {
      let needed = 0;
      const path = [];
      for (let at = i; at >= 0 && !taken[at]; at = parents[at]) {
        path.push(at);
        needed += cost(lines[at]);
        if (lines[at].ref && places.has(at)) needed += NOTE;
      }
      if (left - needed < floor) return false;
      for (const at of path) taken[at] = 1;
      left -= needed;
      return true;
    };
    const whole = left;
    const rounds = [
      [({ kind, view }) => view && kind === "act", 0],
      [({ kind, view }) => view && (kind === "place" || kind === "frame"), whole * (1 - IN_VIEW)],
      [({ view }) => view, whole * (1 - IN_VIEW)],
      [({ kind }) => kind === "act" || kind === "frame", 0],
      [({ kind }) => kind === "place", 0],
      [() => true, 0]
    ];
    const fill2 = () => {
      for (const [fits, floor] of rounds) {
        let misses = 0;
        for (let i = 0; i < lines.length && misses < 20; i++) if (!taken[i] && !lines[i].more && fits(lines[i]) && !take3(i, floor)) misses++;
      }
      for (let i = 1; i < lines.length; i++) if (lines[i].more && !taken[i] && taken[i - 1]) take3(i, 0);
    };
    fill2();
    const lacking = /* @__PURE__ */ new Set();
    for (let i = 0; i < lines.length; i++) if (!taken[i]) for (let at = parents[i]; at >= 0 && !lacking.has(at); at = parents[at]) lacking.add(at);
    for (let i = 0; i < lines.length; i++) if (taken[i] && lines[i].ref && places.has(i) && !lacking.has(i)) left += NOTE;
    fill2();
    return withNotes(lines, parents, taken, deeper);
  }
  function withNotes(lines, parents, taken, deeper) {
    const missing2 = /* @__PURE__ */ new Map();
    const last = /* @__PURE__ */ new Map();
    let count2 = 0;
    lines.forEach(({ more = 0 }, i) => {
      let place = parents[i];
      while (place >= 0 && !(taken[place] && lines[place].ref)) place = parents[place];
      if (taken[i]) {
        for (let at = place; ; at = parents[at]) {
          last.set(at, i);
          if (at < 0) break;
        }
        count2 += more;
        return;
      }
      count2 += more || 1;
      missing2.set(place, (missing2.get(place) ?? 0) + (more || 1));
    });
    const notes = /* @__PURE__ */ new Map();
    for (const place of missing2.keys()) {
      const after = last.get(place) ?? place;
      notes.set(after, [place, ...notes.get(after) ?? []]);
    }
    const out = [];
    const note = (place) => {
      const depth = place < 0 ? 0 : lines[place].depth + 1;
      out.push({ of: place < 0 ? 0 : lines[place].of ?? 0, text: indented({ ...lines[Math.max(place, 0)], depth, text: leftOut(missing2.get(place) ?? 0, "", place < 0 ? "" : lines[place].ref) }) });
    };
    lines.forEach((line2, i) => {
      if (!taken[i]) return;
      out.push({ of: line2.of ?? 0, text: indented(line2) });
      for (const place of (notes.get(i) ?? []).sort((a, b) => b - a)) note(place);
    });
    if (missing2.has(-1) && !last.has(-1)) note(-1);
    return { lines: out, left: count2 + deeper, changes: false };
  }
  function wordsOf(find) {
    return find.toLowerCase().split(/\s+/).filter(Boolean);
  }
  function found(lines, find, maxTokens) {
    const words2 = wordsOf(find);
    const parents = parentsOf(lines);
    const hits = lines.flatMap(({ text }, i) => {
      const said = text.replace(REF2, "").toLowerCase();
      return words2.every((word) => said.includes(word)) ? [i] : [];
    });
    const out = [];
    let left = maxTokens;
    for (const hit of hits) {
      const path = [lines[hit].text];
      for (let at = parents[hit]; at >= 0; at = parents[at]) path.unshift(short(lines[at].text));
      const text = path.join(" > ");
      left -= tokensIn(text) + 1;
      if (left < 0 || out.length === MAX_FOUND) break;
      out.push({ of: lines[hit].of ?? 0, text });
    }
    return { lines: out, left: hits.length - out.length, changes: false };
  }
  function short(text) {
    return /^(?:[^":]|"(?:[^"\\]|\\.)*")*/.exec(text)?.[0].trim() || text;
  }
  function changes(before, now) {
    const [parentsBefore, parents] = [parentsOf(before), parentsOf(now)];
    const [old, fresh] = [keysOf(before, parentsBefore), keysOf(now, parents)];
    const [were2, are] = [countOf(old), countOf(fresh)];
    const news = fresh.map((key) => !take2(were2, key));
    const there = new Set(fresh);
    const refs = new Set(now.flatMap(({ text }) => text.match(REF2) ?? []));
    const kinds = countOf(now.flatMap((line2, i) => news[i] ? [kindIn(line2, now, parents[i])] : []));
    const gone = before.filter((line2, i) => {
      if (take2(are, old[i])) return false;
      if (parentsBefore[i] >= 0 && !there.has(old[parentsBefore[i]])) return false;
      const own = line2.text.match(REF2) ?? [];
      return own.length ? !own.every((ref) => refs.has(ref)) : !take2(kinds, kindIn(line2, before, parentsBefore[i]));
    });
    const out = [];
    const depths = /* @__PURE__ */ new Map();
    let place = -1;
    now.forEach((line2, i) => {
      if (!news[i]) return;
      let at = parents[i];
      while (at >= 0 && !depths.has(at) && !NAMED.test(now[at].text)) at = parents[at];
      if (at >= 0 && !depths.has(at) && at !== place) out.push({ ...now[at], depth: 0 });
      if (at < 0 || !depths.has(at)) place = at;
      const depth = at < 0 ? 0 : (depths.get(at) ?? 0) + 1;
      depths.set(i, depth);
      out.push({ ...line2, depth });
    });
    return [...out, ...gone.map((line2) => ({ ...line2, depth: 0, ref: "", text: `- ${line2.text}` }))];
  }
  var REF2 = /\b[a-z]{3,8}\d+\b(?=[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*$)/g;
  var NAMED = /^(?!main\b)[^"]*"/;
  function take2(counts, key) {
    const count2 = counts.get(key) ?? 0;
    if (count2) counts.set(key, count2 - 1);
    return count2 > 0;
  }
  function kindIn({ text, of = 0 }, lines, parent) {
    return `${of} ${parent >= 0 ? short(lines[parent].text) : ""}
${text.replace(REF2, "").replace(/"(?:[^"\\]|\\.)*"/g, '"')}`;
  }
  function keysOf(lines, parents) {
    return lines.map(({ text, of = 0 }, i) => `${parents[i] >= 0 ? short(lines[parents[i]].text) : ""}
${of} ${text.replace(/ focused(?=$|,| \|)/, "")}`);
  }
  function countOf(keys) {
    const counts = /* @__PURE__ */ new Map();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  }

  // content/steps/looklines.ts
  var BREAK = { kind: "text", role: "", text: "", view: false, block: false, ref: "", parts: [] };
  var MAX_LINE = 200;
  var MAX_ITEM2 = 320;
  var MAX_PARTS = 12;
  var MAX_ROW = 900;
  var SHORT = 60;
  var FIELD = /^(textbox|searchbox|combobox|spinbutton|slider|field)\b/;
  var CELL = /^(cell|gridcell|columnheader|rowheader)$/;
  var ITEM = /^(listitem|article|option|cell|gridcell|columnheader|rowheader|heading|clickable|paragraph|blockquote|code|term|definition)$/;
  var SMALL = /^(clickable|paragraph|blockquote|code|term|definition|listitem|cell|gridcell|columnheader|rowheader)$/;
  var LARGE = /^(main|table|grid|treegrid|tree|dialog|alertdialog|list|listbox|form|region|navigation)$/;
  function quoted(text) {
    return JSON.stringify(text);
  }
  function* linesOf(parts, maxText, scoped) {
    const maker = new Maker(maxText);
    const dialogs = scoped ? [] : dialogsIn(parts);
    const first = [];
    for (const dialog of dialogs) yield* maker.render([dialog], 0, first);
    const rest = [];
    yield* maker.render(parts, 0, rest);
    const modal = dialogs.some(({ dialog }) => dialog === "modal") && rest.length > 0;
    if (modal) first.push({ depth: 0, kind: "place", view: true, ref: "", text: "behind the dialog, out of reach until that is closed:" });
    return [...first, ...modal ? rest.map((line2) => ({ ...line2, view: false })) : rest];
  }
  function dialogsIn(parts) {
    const found2 = [];
    const take3 = (of) => {
      for (let i = 0; i < of.length; i++) {
        if (of[i].dialog) found2.unshift(...of.splice(i--, 1, BREAK));
        else take3(of[i].parts);
      }
    };
    take3(parts);
    return found2.sort((a, b) => Number(b.dialog === "modal") - Number(a.dialog === "modal"));
  }
  var Maker = class {
    #maxText;
    #count = 0;
    constructor(maxText) {
      this.#maxText = maxText;
    }
    *render(parts, depth, out) {
      for (const group of groupsOf(parts)) {
        if (++this.#count % 64 === 0) yield;
        if (Array.isArray(group)) yield* this.#flow(group, depth, out);
        else yield* this.#block(group, depth, out);
      }
    }
    *#flow(group, depth, out) {
      let line2;
      for (let i = 0; i < group.length; i++) {
        if (i % 64 === 63) yield;
        line2 = this.#joined(this.#pieces(group.slice(i, i + 1)), line2, depth, out);
      }
    }
    /** Adds pieces to a line, or to others after it. @returns the last one */
    #joined(pieces, to, depth, out) {
      let line2 = to;
      for (const { text, kind, view, ref } of pieces) {
        const before = line2 ?? (kind === "text" && text.length < SHORT ? shortText(out.at(-1), depth) : void 0);
        const isField2 = kind === "act" && FIELD.test(text);
        if (before && before.text.length + text.length < MAX_LINE && !(isField2 && before.kind === "act")) {
          before.text += `${line2 ? ", " : " | "}${text}`;
          before.view ||= view;
          if (kind === "act") before.kind = "act";
          line2 = before;
        } else out.push(line2 = { depth, kind, view, ref, text });
      }
      return line2;
    }
    /** The elements and texts of a line. */
    #pieces(group) {
      const pieces = [];
      for (const part of group) {
        if (part === BREAK) continue;
        if (part.kind !== "text" || part.role) {
          pieces.push({ text: part.text, kind: part.kind, view: part.view, ref: part.ref });
          if (part.parts.length) pieces.push(...this.#flat(part.parts, MAX_ITEM2) ?? []);
          continue;
        }
        const text = clean(part.text.slice(0, this.#maxText * 8), this.#maxText);
        if (/[\p{L}\p{N}\p{Sc}\p{So}]/u.test(text)) pieces.push({ text: quoted(text), kind: "text", view: part.view, ref: "" });
      }
      return pieces;
    }
    *#block(part, depth, out) {
      const { text, kind, view, ref, frame } = part;
      const line2 = { depth, kind, view, ref, text, ...frame !== void 0 && { frame } };
      if (part.parts.length === 0) {
        if (text && (kind === "act" || !/^(listitem|row|cell|gridcell|columnheader|rowheader)$/.test(part.role))) out.push(line2);
        return;
      }
      if (part.role === "row" && this.#row(part, line2, out)) return;
      if (ITEM.test(part.role)) {
        const pieces = this.#flat(part.parts, MAX_ITEM2);
        if (pieces?.length === 0 && (kind === "text" || part.role === "listitem")) return;
        if (pieces) {
          this.#one(part, line2, pieces, out);
          return;
        }
      }
      const inner = [];
      const isItem = part.role === "listitem" && !text;
      yield* this.render(part.parts, depth + 1, inner);
      if (isItem) {
        if (inner[0]) inner[0] = { ...inner[0], depth, text: `* ${inner[0].text}`, ref: inner[0].ref || ref };
        out.push(...inner);
        return;
      }
      if (inner.length === 0 && kind !== "act" && !/^(dialog|alertdialog)$/.test(part.role)) return;
      if (inner.length === 1 && !LARGE.test(part.role) && inner[0].frame === void 0) {
        out.push({ ...inner[0], depth, text: `${text}: ${inner[0].text}`, kind: kind === "act" ? "act" : inner[0].kind, ref: ref || inner[0].ref });
        return;
      }
      const heading = /^heading ("(?:[^"\\]|\\.)*")/.exec(inner[0]?.text ?? "")?.[1];
      if (heading && inner[0].kind === "place" && inner.length > 1 && text.includes(heading)) inner.shift();
      const name = /^\w+ ("(?:[^"\\]|\\.)*")/.exec(inner[0]?.text ?? "")?.[1];
      const alone = inner.findIndex((other, i) => i > 0 && other.depth === depth + 1) < 0;
      if (alone && kind === "place" && name && inner[0].kind === "place" && text.includes(` ${name}`)) out.push(...inner.map((other) => ({ ...other, depth: other.depth - 1 })));
      else if (!text) out.push(...inner.map((other) => ({ ...other, depth: other.depth - 1 })));
      else out.push(line2, ...inner);
    }
    /** An item in one line. */
    #one(part, line2, pieces, out) {
      if (line2.text && isSmall(part, pieces)) {
        out.push({ ...line2, text: named2(part, pieces) });
        return;
      }
      if (pieces[0]?.text.startsWith("heading ") && line2.text.includes(pieces[0].text.slice("heading ".length))) pieces = pieces.slice(1);
      const acts = line2.kind === "act" || pieces.some(({ kind }) => kind === "act");
      const head = part.role === "listitem" && !line2.text ? pieces.length > 1 ? "* " : "" : CELL.test(part.role) && line2.kind !== "act" ? "" : `${line2.text}${pieces.length ? ": " : ""}`;
      const body = part.role === "heading" && pieces.length === 1 && pieces[0].kind === "act" ? pieces[0].text : pieces.map(({ text }) => text).join(part.role === "heading" ? ", " : " | ");
      out.push({ ...line2, kind: acts ? "act" : line2.kind, view: line2.view || pieces.some(({ view }) => view), text: part.role === "heading" ? `${line2.text} ${body}${part.tail ?? ""}` : `${head}${body}` });
    }
    /** A row in one line, if it is not too long. */
    #row(part, line2, out) {
      const cells = part.parts.filter((cell) => cell !== BREAK && (cell.role !== "" || /\S/.test(cell.text)));
      const texts2 = [];
      let acts = line2.kind === "act";
      let { view } = line2;
      for (const cell of cells) {
        const isCell = CELL.test(cell.role);
        const pieces = this.#flat(isCell ? cell.parts : [cell], MAX_ITEM2);
        if (!pieces) return false;
        acts ||= cell.kind === "act" || pieces.some(({ kind }) => kind === "act");
        view ||= cell.view;
        const inner = pieces.map(({ text: text2 }) => text2).join(", ");
        texts2.push(isCell && cell.text && isSmall(cell, pieces) ? named2(cell, pieces) : isCell && (cell.kind === "act" || cell.text) ? `${cell.text}${inner ? `: ${inner}` : ""}` : inner);
      }
      const headers = cells.length > 0 && cells.every(({ role }) => role === "columnheader");
      const text = `${headers ? "headers" : ""}${headers ? line2.text.slice(3) : line2.text}: ${texts2.join(" | ")}`;
      if (text.length > MAX_ROW) return false;
      if (texts2.some(Boolean)) out.push({ ...line2, kind: acts ? "act" : "text", view, text });
      return true;
    }
    /** Parts as pieces of one line; undefined if they are too long for that. */
    #flat(parts, max) {
      const pieces = [];
      let length = 0;
      for (const group of groupsOf(parts)) {
        const found2 = Array.isArray(group) ? this.#pieces(group) : this.#flatBlock(group, max - length);
        if (!found2) return void 0;
        for (const { text } of found2) length += text.length;
        pieces.push(...found2);
        if (length > max || pieces.length > MAX_PARTS) return void 0;
      }
      return pieces;
    }
    #flatBlock(part, max) {
      const { text, kind, view, ref } = part;
      if (kind === "frame" || LARGE.test(part.role)) return void 0;
      const inner = this.#flat(part.parts, max);
      if (!inner) return void 0;
      if (!text || CELL.test(part.role) && kind !== "act") return inner;
      const body = inner.map((piece) => piece.text).join(", ");
      const acts = kind === "act" || inner.some((piece) => piece.kind === "act");
      if (!body && part.role === "row") return [];
      return [{ text: body ? `${text}${part.role === "heading" ? "" : ":"} ${body}` : text, kind: acts ? "act" : kind, view: view || inner.some((piece) => piece.view), ref }];
    }
  };
  function isSmall(part, pieces) {
    return SMALL.test(part.role) && pieces.length > 0 && pieces.every(({ kind }) => kind === "text");
  }
  function named2(part, pieces) {
    return part.text.replace(part.role, `${part.role} ${pieces.map(({ text }) => text).join(" | ")}`);
  }
  function shortText(line2, depth) {
    return line2 && line2.depth === depth && line2.kind === "text" && line2.text.startsWith('"') && line2.frame === void 0 ? line2 : void 0;
  }
  function* groupsOf(parts) {
    let flow = [];
    for (const part of parts) {
      if (part !== BREAK && !part.block) {
        flow.push(part);
        continue;
      }
      if (flow.length) yield flow;
      flow = [];
      if (part !== BREAK) yield part;
    }
    if (flow.length) yield flow;
  }

  // content/steps/state.ts
  var MAX_VALUE = 120;
  var MAX_OPTIONS = 8;
  var MAX_SCOPED_OPTIONS = 200;
  function statesOf(element, role, name, scoped) {
    const states = [];
    const is = (attr) => attribute(element, `aria-${attr}`)?.toLowerCase();
    if (role === "" && isHTML(element, "input")) states.push(clean(inputType(element), 20));
    states.push(...valueOfField(element, role, name, scoped));
    const checked = isHTML(element, "input") && /^(checkbox|radio)$/.test(inputType(element)) ? matchesSelector(element, ":indeterminate") && inputType(element) === "checkbox" ? "mixed" : String(isChecked(element)) : is("checked");
    if (checked === "true") states.push("checked");
    if (checked === "mixed") states.push("partly checked");
    if (is("pressed") === "true") states.push("pressed");
    if (is("selected") === "true") states.push("selected");
    const details = localName(element) === "summary" ? element.parentElement : null;
    const expanded = details && isHTML(details, "details") ? String(hasAttribute(details, "open")) : is("expanded");
    if (expanded === "true") states.push("expanded");
    if (expanded === "false") states.push("collapsed");
    if (matchesSelector(element, ":disabled") || is("disabled") === "true") states.push("disabled");
    if (matchesSelector(element, ":required") || is("required") === "true") states.push("required");
    if (hasAttribute(element, "readonly") || is("readonly") === "true") states.push("readonly");
    if ((is("invalid") ?? "false") !== "false" || matchesSelector(element, ":user-invalid")) states.push("invalid");
    if ((is("current") ?? "false") !== "false") states.push("current");
    if (is("busy") === "true") states.push("busy");
    if (/^(ascending|descending)$/.test(is("sort") ?? "")) states.push(is("sort"));
    const count2 = Number(is("rowcount") ?? 0);
    if (count2 > 0) states.push(`of ${count2} rows`);
    if (role && matchesSelector(element, ":focus") && hasFocus(element)) states.push("focused");
    return states.map((state) => ` ${state}`).join("");
  }
  function valueOfField(element, role, name, scoped) {
    const isField2 = isHTML(element, "input", "select", "textarea");
    if (!isField2 && !/^(textbox|searchbox|combobox|slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) return [];
    if (isHTML(element, "input") && /^(checkbox|radio|button|submit|reset|image|hidden)$/.test(inputType(element))) return [];
    if (secret(element, name) || isInParts(element)) return ["(secret)"];
    const value = written(element, role);
    if (hasCardNumber(value)) return ["(secret)"];
    const out = value ? [`= ${quoted(clean(value, MAX_VALUE))}`] : [];
    if (isHTML(element, "select")) out.push(optionsOf(element, scoped));
    else if (role === "slider" || role === "spinbutton") out.push(...rangeOf(element));
    const hint = value ? "" : clean(attribute(element, "placeholder") ?? "", 60);
    if (hint && hint !== clean(name, 60)) out.push(`placeholder ${quoted(hint)}`);
    return out.filter(Boolean);
  }
  function written(element, role) {
    if (isHTML(element, "input") && inputType(element) === "file") return [...element.files ?? []].map(({ name }) => name).join(", ");
    const value = valueOf(element);
    if (value !== void 0) return Array.isArray(value) ? value.join(", ") : value;
    const said = attribute(element, "aria-valuetext") ?? attribute(element, "aria-valuenow");
    if (said !== null) return said;
    if (isHTML(element, "progress", "meter")) return hasAttribute(element, "value") ? `${Number(attribute(element, "value"))} of ${Number(attribute(element, "max") ?? 1)}` : "";
    if (/^(slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) return "";
    const text = isHTML(element, localName(element)) ? innerText(element) : "";
    return role === "combobox" && text.trim() === nameOf(element, role) ? "" : text;
  }
  function optionsOf(select, scoped) {
    const all2 = [...selectOptions(select)].filter((option) => viewOf(option)?.getComputedStyle(option).display !== "none").map((option) => clean(optionLabel(option), 40)).filter(Boolean);
    const max = scoped ? MAX_SCOPED_OPTIONS : MAX_OPTIONS;
    const more = all2.length - max;
    return all2.length ? `of ${all2.slice(0, max).map(quoted).join(", ")}${more > 0 ? ` and ${more} more` : ""}` : "";
  }
  function rangeOf(element) {
    const bound = (name) => attribute(element, name) ?? attribute(element, `aria-value${name}`);
    const [min, max] = [bound("min"), bound("max")];
    return min && max && Number.isFinite(Number(min)) && Number.isFinite(Number(max)) ? [`from ${Number(min)} to ${Number(max)}`] : [];
  }

  // content/steps/look.ts
  var SLICE = 6;
  var PARSED = 1500;
  var LOADED = 500;
  var MAX_LEVELS = 700;
  var MAX_LINES = 2e4;
  var MAX_NAME = 120;
  var MAX_TEXT = 240;
  var MAX_SCOPED_TEXT = 2e3;
  var ACTS = /^(button|link|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|menuitem|menuitemcheckbox|menuitemradio|option|tab|treeitem|scrollbar)$/;
  var FIELDS3 = /^(textbox|searchbox|slider|spinbutton|scrollbar)$/;
  var PLACES = /^(dialog|alertdialog|main|navigation|banner|contentinfo|complementary|search|table|grid|treegrid|tree|listbox|menu|menubar|toolbar|tablist|tabpanel|radiogroup|alert|status|article|listitem|row|cell|gridcell|columnheader|rowheader|heading|feed|log)$/;
  var NAMED2 = /^(region|form|group|list|figure|application|directory|marquee|timer|note|tooltip)$/;
  var SCOPES = /^(dialog|alertdialog|main|table|grid|treegrid|tree|listbox|tabpanel|region|form|feed|log|list)$/;
  var ITEMS2 = /^(row|listitem|article|option|gridcell)$/;
  var SKIPPED = /* @__PURE__ */ new Set(["script", "style", "noscript", "template", "head", "datalist", "legend", "caption", "param", "source", "track", "rp"]);
  var PICTURES = /* @__PURE__ */ new Set(["canvas", "video", "audio", "embed", "object"]);
  var nothingSeen = () => ({ text: "", unseen: false, deceives: false });
  async function look({ tag, scope, find }) {
    await leaves("loading", PARSED);
    await leaves("interactive", LOADED);
    watchPasswords(document);
    const references2 = referencesOf(tag);
    const part = {
      tag: references2.tag,
      origin: self.origin,
      url: clean(location.href, 2048),
      title: clean(document.title, 200),
      index: window.parent === window ? -1 : frameIndex(window),
      lines: ""
    };
    let root = document.documentElement;
    try {
      if (scope) root = referenced({ ref: scope }).element;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ...part, stale: { message: error.message, near: error.found } };
    }
    if (!root || innerWidth < 2 || innerHeight < 2) return part;
    const looking = new Looking(references2, scope !== void 0, find);
    if (scope && windowOf(root)) return { ...part, frame: looking.indexOf(root) };
    await sliced(looking.all(root));
    const lines = await sliced(linesOf(looking.parts, scope ? MAX_SCOPED_TEXT : MAX_TEXT, scope !== void 0));
    return { ...part, lines: await sliced(encoded(lines.slice(0, MAX_LINES))) };
  }
  function leaves(state, ms) {
    if (document.readyState !== state) return Promise.resolve();
    return new Promise((done) => {
      const look2 = () => {
        if (document.readyState === state) return;
        clearTimeout(timer);
        document.removeEventListener("readystatechange", look2);
        done();
      };
      const timer = setTimeout(() => {
        document.removeEventListener("readystatechange", look2);
        done();
      }, ms);
      document.addEventListener("readystatechange", look2);
    });
  }
  function* encoded(lines) {
    const texts2 = [];
    for (let i = 0; i < lines.length; i += 500) {
      texts2.push(encode(lines.slice(i, i + 500)));
      yield;
    }
    return texts2.join("\n");
  }
  async function sliced(work) {
    for (; ; ) {
      const until = performance.now() + SLICE;
      let step2;
      knowingLabels(() => {
        do
          step2 = work.next();
        while (!step2.done && performance.now() < until);
      });
      const { done, value } = step2;
      if (done) return value;
      await turn();
    }
  }
  function turn() {
    return new Promise((resolve2) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve2();
      };
      port2.postMessage(0);
    });
  }
  var Looking = class {
    parts = [];
    #references;
    #scoped;
    /** Items, cells and headings with these words say their references, too; without words where a part is looked at all do. */
    #words;
    #page;
    #frames = /* @__PURE__ */ new Map();
    /** Elements by the id of what names them. */
    #named = /* @__PURE__ */ new Map();
    #around = /* @__PURE__ */ new Map();
    #heading = 1;
    #count = 0;
    constructor(references2, scoped, find) {
      this.#references = references2;
      this.#scoped = scoped;
      this.#words = find === void 0 ? void 0 : wordsOf(find).filter((word) => !ROLE.test(word));
      this.#page = pageBox();
      for (let i = 0; i < window.length && i < 1e3; i++) this.#frames.set(window[i], i);
      for (const element of query(document, "[aria-labelledby]")) this.#named.set(attribute(element, "aria-labelledby")?.trim() ?? "", element);
    }
    indexOf(frame) {
      const view = windowOf(frame);
      return (view && this.#frames.get(view)) ?? -1;
    }
    *all(root) {
      const here = { ...seenAtRoot(), level: 0, pointer: false, wanted: false, moves: this.#scoped };
      const scrolls2 = this.#scoped ? "" : scrollsBy(document.scrollingElement, innerHeight);
      if (scrolls2) this.parts.push({ ...BREAK, kind: "place", role: "page", text: `page${scrolls2}`, view: true, block: true });
      yield* this.#element(root, here, this.parts);
    }
    *#children(of, here, into) {
      const shadow = shadowOf(of);
      if (shadow) watchPasswords(shadow);
      let nodes = isHTML(of, "slot") ? assignedNodes(of, { flatten: true }) : [];
      if (nodes.length === 0) {
        nodes = [];
        for (let node = firstChild(shadow ?? of); node; node = nextSibling(node)) nodes.push(node);
      }
      const closed = isHTML(of, "details") && !hasAttribute(of, "open");
      for (const node of nodes) {
        if (closed && !(nodeType(node) === Node.ELEMENT_NODE && isHTML(node, "summary"))) continue;
        const type2 = nodeType(node);
        if (type2 === Node.TEXT_NODE) this.#text(textContent(node) ?? "", here, into);
        else if (type2 === Node.ELEMENT_NODE) yield* this.#element(node, here, into);
      }
    }
    #text(text, here, into) {
      if (here.quiet) {
        if (here.text) here.quiet.text += text;
        else if (/\S/.test(text)) here.quiet[here.ink ? "unseen" : "deceives"] = true;
        return;
      }
      if (!here.text || text === "") return;
      const last = into.at(-1);
      if (last && last !== BREAK && last.kind === "text" && !last.role) {
        last.text += text;
        last.view ||= here.now;
      } else into.push({ kind: "text", role: "", text, view: here.now, block: false, ref: "", parts: [] });
    }
    *#element(element, outer, into) {
      if (++this.#count % 16 === 0) yield;
      const name = localName(element);
      if (SKIPPED.has(name)) return;
      if (attribute(element, "aria-hidden") === "true" || hasAttribute(element, "inert")) return;
      const style = viewOf(element)?.getComputedStyle(element);
      if (!style || style.display === "none") return;
      const seen = seenIn(element, style, outer, this.#page);
      const { quiet } = outer;
      if (outer.level > MAX_LEVELS && typeof seen !== "string") {
        if (!quiet) into.push(this.#part(element, { kind: "place", role: "box", name: "", view: seen.now, block: true, states: " is too deep to be shown here, use it as scope", referred: true }));
        return;
      }
      if (typeof seen === "string") {
        if (!quiet) return;
        if (/\S/.test(textIn(element))) quiet[seen === "nothing" ? "unseen" : "deceives"] = true;
        return;
      }
      const here = { ...seen, level: outer.level + 1, wanted: outer.wanted, pointer: style.cursor === "pointer", ...quiet && { quiet } };
      const isBlock = name === "br" || !/^(inline|contents|ruby)/.test(style.display);
      if (isBlock && quiet) quiet.text += " ";
      else if (isBlock) into.push(BREAK);
      if (name === "br") return;
      yield* this.#inside(element, style, outer, here, isBlock, into);
      if (isBlock && quiet) quiet.text += " ";
      else if (isBlock) into.push(BREAK);
    }
    *#inside(element, style, outer, here, block, into) {
      if (!here.self) return yield* this.#children(element, here, into);
      const name = localName(element);
      if (windowOf(element)) {
        into.push(this.#part(element, { kind: "frame", role: "frame", name: nameOf(element, ""), view: here.now, block: true, frame: this.indexOf(element) }));
        return;
      }
      if (isHTML(element, "label")) return yield* this.#label(element, here, into);
      const role = roleOf(element);
      const isField2 = isHTML(element, "input", "select", "textarea");
      if (isField2 && attribute(element, "type")?.toLowerCase() === "hidden") return;
      if (ACTS.test(role) || isField2) return yield* this.#acting(element, role, here, into);
      if (here.quiet && isHTML(element, "img")) here.quiet.text += ` ${attribute(element, "alt") ?? ""} `;
      const clickable = isClickable(element, role, outer, here);
      const scrolls2 = /auto|scroll/.test(style.overflowY) && element !== document.body && element !== document.documentElement ? scrollsBy(element) : "";
      if (role === "img" || PICTURES.has(name) || role === "" && clickable && isEmpty(element)) {
        const called2 = nameOf(element, role);
        if (called2 || clickable || PICTURES.has(name)) into.push(this.#part(element, { kind: clickable ? "act" : "text", role: role || (PICTURES.has(name) ? name : "clickable"), name: called2, view: here.now, block: false, referred: clickable || PICTURES.has(name) }));
        return;
      }
      if (/^(progressbar|meter)$/.test(role)) {
        into.push(this.#part(element, { kind: "text", role, name: nameOf(element, role), view: here.now, block: false, states: statesOf(element, role, "", false) }));
        return;
      }
      if (role === "separator" || here.quiet && !clickable) {
        if (role !== "separator") yield* this.#children(element, here, into);
        return;
      }
      if (hasAttribute(element, "id") && this.#isSaidElsewhere(element, role)) return yield* this.#children(element, { ...here, quiet: nothingSeen() }, into);
      const called = PLACES.test(role) || NAMED2.test(role) ? nameOf(element, isNamedByContent(role) ? "" : role) : "";
      if (!PLACES.test(role) && !(NAMED2.test(role) && called) && !clickable && !scrolls2) return yield* this.#children(element, here, into);
      const parts = [];
      if (ITEM2.test(role) && !here.wanted) here.wanted = this.#isWanted(element);
      yield* this.#children(element, here, parts);
      into.push(this.#place(element, role, called, here, block, clickable, scrolls2, parts));
    }
    #place(element, role, called, here, block, clickable, scrolls2, parts) {
      const isItem = ITEM2.test(role);
      const kind = clickable ? "act" : /^(listitem|cell|gridcell|columnheader|rowheader|row)$/.test(role) ? "text" : "place";
      const shown2 = role || (clickable ? "clickable" : "box");
      const states = `${statesOf(element, role, called, this.#scoped)}${scrolls2}`;
      const part = this.#part(element, {
        kind,
        role: shown2,
        name: isItem && role !== "article" && role !== "row" ? attributeName(element, called) : called,
        view: here.now,
        block: block || !clickable || role !== "",
        states,
        referred: clickable || scrolls2 !== "" || SCOPES.test(role) || isItem && here.wanted || role === "gridcell" && called !== "",
        parts
      });
      if ((role === "listitem" || CELLS.test(role)) && !part.ref && !states && !called) part.text = "";
      if (role === "heading") {
        part.text = "heading";
        const level = Number.parseInt(attribute(element, "aria-level") ?? /^h([1-6])$/.exec(localName(element))?.[1] ?? "2", 10) || 2;
        part.tail = `${part.ref && ` ${part.ref}`}${level === this.#heading ? "" : ` level ${level}`}`;
        this.#heading = level;
      }
      if (/^(dialog|alertdialog)$/.test(role)) part.dialog = isModal(element) ? "modal" : "other";
      if (part.dialog === "modal") part.text += " modal";
      return part;
    }
    *#acting(element, role, here, into) {
      const quiet = nothingSeen();
      const parts = [];
      const isEditor2 = role === "textbox" || role === "searchbox" || isHTML(element, "input", "select", "textarea");
      if (!isEditor2 && !FIELDS3.test(role)) yield* this.#children(element, { ...here, quiet }, parts);
      let name = nameOf(element, role);
      let shown2 = "";
      if (isNamedByContent(role) && !attributeName(element, "")) {
        const isSaid = /[\p{L}\p{N}]/u.test(quiet.text);
        if (quiet.deceives && isSaid) name = quiet.text;
        else if (quiet.unseen && isSaid) shown2 = quiet.text;
        else if (parts.length && /^(treeitem|menuitem)$/.test(role)) name = textOfItem(element, MAX_NAME);
      }
      if (here.quiet && !parts.length) here.quiet.text += ` ${quiet.text}`;
      const states = `${name || role !== "link" ? "" : leads2(element)}${statesOf(element, role, name, this.#scoped)}`;
      into.push(this.#part(element, { kind: "act", role, name, view: here.now, block: parts.length > 0, states, referred: true, parts, shown: shown2 }));
    }
    /** The label of a field that is seen is said as its name. */
    *#label(label, here, into) {
      const field = controlOf(label);
      const shown2 = field !== null && (isVisible(field) || standsForLabel(field));
      if (field === null || shown2 && !overlap(nameOf(field), textIn(label, field))) return yield* this.#children(label, { ...here, pointer: true }, into);
      if (shown2) return yield* this.#children(label, { ...here, pointer: true, quiet: nothingSeen() }, into);
      const quiet = nothingSeen();
      const parts = [];
      yield* this.#children(label, { ...here, pointer: true, quiet }, parts);
      into.push(this.#part(label, { kind: "act", role: "label", name: quiet.text, view: here.now, block: parts.length > 0, states: statesOf(field, roleOf(field), "", false), referred: true, parts }));
    }
    /** Whether an item has what is looked for. */
    #isWanted(item) {
      if (!this.#words) return this.#scoped;
      const text = (textContent(item) ?? "").slice(0, 2e4).toLowerCase();
      return this.#words.every((word) => text.includes(word));
    }
    #isSaidElsewhere(element, role) {
      const of = this.#named.get(attribute(element, "id") ?? "");
      if (!of || isNamedByContent(role) !== (role === "heading")) return false;
      const its = roleOf(of);
      return (PLACES.test(its) || NAMED2.test(its) || ACTS.test(its)) && !isNamedByContent(its) && isVisible(of) && !hasAttribute(of, "aria-hidden");
    }
    #part(element, { kind, role, name, view, block, states = "", referred = kind === "frame", parts = [], frame, shown: shown2 = "" }) {
      const called = clean(name, MAX_NAME);
      const ref = referred ? this.#refOf(element) : "";
      const isCalled = kind === "act" && (hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby"));
      const seen = clean(shown2, MAX_NAME);
      const also = isCalled ? / that shows .*$/s.exec(words(element))?.[0] ?? "" : seen && seen !== called ? ` that shows ${quoted(seen)}` : "";
      const text = `${role || "field"}${called ? ` ${quoted(called)}` : ""}${also}${ref && ` ${ref}`}${states}`;
      return { kind, role, text, view, block, ref, parts, ...frame !== void 0 && { frame } };
    }
    #refOf(element) {
      const role = roleOf(element);
      const name = nameOf(element, role);
      const found2 = { element, role, name, words: words(element, role, name) };
      return this.#references.of(found2, itemsOf(element, this.#around));
    }
  };
  var ITEM2 = /^(listitem|heading|cell|gridcell|columnheader|rowheader|row|article)$/;
  var ROLE = /^(listitem|heading|cell|gridcell|columnheader|rowheader|row|article|button|link|list|table|main|region|checkbox|textbox|combobox|field|frame|dialog)$/;
  var CELLS = /^(cell|gridcell|columnheader|rowheader)$/;
  function attributeName(element, otherwise) {
    return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? nameOf(element, "") : otherwise;
  }
  function isEmpty(element) {
    return !/\S/.test(textContent(element) ?? "") && ![...query(element, "a,button,input,select,textarea,iframe,[role]")].length;
  }
  function isClickable(element, role, outer, here) {
    if (element === document.body || element === document.documentElement || here.quiet) return false;
    if (hasAttribute(element, "onclick") || attribute(element, "draggable") === "true") return true;
    if (here.pointer) return !outer.pointer || ITEMS2.test(role);
    return role === "" && Number(attribute(element, "tabindex") ?? -1) >= 0 && !/auto|scroll/.test(viewOf(element)?.getComputedStyle(element).overflowY ?? "");
  }
  function leads2(link) {
    const to = attribute(link, "href") ?? "";
    return to && !/^(#|javascript:|data:)/i.test(to) ? ` to ${quoted(clean(to, 60))}` : "";
  }
  function isModal(element) {
    return attribute(element, "aria-modal") === "true" || [...query(document, ":modal")].includes(element);
  }
  function scrollsBy(element, seen) {
    if (!element) return "";
    const { height, top, shown: shown2 } = scrollBox(element);
    const screen = seen ?? shown2;
    if (screen < 8 || height <= screen + 8) return "";
    const part = (length) => String(Math.round(length / screen * 10) / 10);
    return ` of ${part(height)} screens, scrolled by ${part(top)}`;
  }

  // content/steps/until.ts
  var EVERY = 200;
  var REST = 4;
  function eventually(look2, until, signal) {
    return new Promise((resolve2, reject) => {
      let next;
      let rested = 0;
      const end2 = () => {
        clearTimeout(next);
        changes3.disconnect();
        signal.removeEventListener("abort", aborted);
      };
      const aborted = () => {
        end2();
        reject(signal.reason);
      };
      const again = () => {
        const began = performance.now();
        clearTimeout(next);
        try {
          const value = look2();
          end2();
          resolve2(value);
        } catch (error) {
          const now = performance.now();
          if (!(error instanceof Failure && error.passing) || now >= until) {
            end2();
            reject(error);
            return;
          }
          rested = now + (now - began) * REST;
          next = setTimeout(again, Math.min(Math.max(EVERY, rested - now), until - now));
        }
      };
      const changes3 = new MutationObserver(() => {
        if (performance.now() >= rested) again();
        else {
          clearTimeout(next);
          next = setTimeout(again, rested - performance.now());
        }
      });
      if (signal.aborted) return aborted();
      signal.addEventListener("abort", aborted);
      changes3.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      again();
    });
  }

  // content/steps/moment.ts
  var DRAWN = 100;
  function turn2() {
    return new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        done();
      };
      port2.postMessage(0);
    });
  }
  async function drawn() {
    if (document.visibilityState === "visible") {
      await Promise.race([new Promise((done) => requestAnimationFrame(done)), new Promise((done) => setTimeout(done, DRAWN))]);
    }
    await turn2();
  }
  async function inTime(ms, signal, look2) {
    const wait = () => {
      const value = look2();
      if (value === void 0) throw new Failure("STEP_TIMEOUT", "").later();
      return value;
    };
    try {
      return await eventually(wait, performance.now() + ms, signal);
    } catch (error) {
      if (error instanceof Failure && error.code === "STEP_TIMEOUT" && error.passing) return void 0;
      throw error;
    }
  }

  // content/steps/usable.ts
  function usable(target, scope, now) {
    const found2 = one(target, document, scope);
    const problem = unusable(found2.element, scope);
    if (problem) throw new Failure("STEP_REFUSED", `${found2.words} ${problem}`).later();
    if (!now) return found2;
    const cover = coverOf(found2.element);
    if (cover) throw new Failure("STEP_REFUSED", `${found2.words} is ${cover}`).later();
    return { ...found2, items: itemsOf(found2.element) };
  }
  function unusable(element, scope) {
    if (!scope.inMatch(location.href)) return `is by now on a page at ${clean(location.href, 200)}, ${scope.outside}`;
    if (!isConnected(element) || !isOfRun(element, scope)) return "is gone";
    if (!isVisible(element)) return "is not seen any more";
    const disabled = matchesSelector(element, ":disabled") || outward(element, (at) => matchesSelector(at, "button:disabled") || attribute(at, "aria-disabled") === "true");
    return disabled ? "is disabled" : "";
  }
  function another({ element, words: was, items }, scope) {
    const problem = unusable(element, scope);
    if (problem) return `${was} ${problem}`;
    const is = words(element);
    if (is !== was) return `${was} has become ${is}`;
    const inWhat = items === void 0 ? items : itemsOf(element);
    return inWhat === items ? "" : `${was} in ${JSON.stringify(clean(items ?? ""))} has become one in ${JSON.stringify(clean(inWhat ?? ""))}`;
  }
  function middle(element) {
    const rect = [...rects(element)].find(({ width, height }) => width > 0 && height > 0) ?? { left: -1, top: -1, width: 0, height: 0 };
    return { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
  }
  function coverOf(element) {
    const view = viewOf(element);
    const { x, y } = middle(element);
    if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight || view !== window) scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
    const at = middle(element);
    return coverAt(element, at);
  }
  function coverAt(element, { x, y }) {
    const over2 = overAt(element, x, y);
    if (over2 === void 0) return "outside of what the page shows";
    if (!over2) return "";
    const known2 = outward(over2, (at) => roleOf(at) !== "" && !outward(element, (outer) => outer === at)) ?? over2;
    return `covered by ${words(known2)}`;
  }
  function deepestAt(tree, x, y) {
    let hit = elementAt(tree, x, y);
    for (; ; ) {
      const shadow = hit && shadowOf(hit);
      const inner = shadow && elementAt(shadow, x, y);
      if (!inner || inner === hit) return hit;
      hit = inner;
    }
  }
  function overAt(element, x, y) {
    const hit = deepestAt(documentOf(element), x, y);
    if (!hit) return void 0;
    const parts = [element, ...labelsOf(element)];
    if (!outward(hit, (at) => parts.includes(at))) return hit;
    const view = viewOf(element);
    const frame = view === window ? null : view.frameElement;
    if (!frame) return null;
    const [rect] = rects(frame);
    return rect ? overAt(frame, rect.left + frame.clientLeft + x, rect.top + frame.clientTop + y) : void 0;
  }

  // content/steps/shown.ts
  var LASTS = 1e4;
  var MAX_NUMBERS = 400;
  var LETTER = 7;
  var HEIGHT = 15;
  async function show2(ref) {
    let element;
    try {
      ({ element } = referenced({ ref }));
    } catch (error) {
      if (error instanceof Failure) return { stale: error.message, near: error.found };
      throw error;
    }
    scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
    await drawn();
    const all2 = [...rects(element)];
    const left = Math.min(...all2.map((rect) => rect.left));
    const top = Math.min(...all2.map((rect) => rect.top));
    const stays = outward(element, (at) => /^(fixed|sticky)$/.test(viewOf(at)?.getComputedStyle(at).position ?? "")) !== null;
    return { left, top, width: Math.max(...all2.map((rect) => rect.right)) - left, height: Math.max(...all2.map((rect) => rect.bottom)) - top, stays };
  }
  function number(refs, part = { left: 0, top: 0, width: innerWidth, height: innerHeight }) {
    if (Object.hasOwn(globalThis, "tabhubNumbers")) globalThis.tabhubNumbers?.remove();
    const root = rootElement(document);
    if (!refs.length || !root) return [];
    const host2 = createElement(document, "div");
    host2.setAttribute("aria-hidden", "true");
    host2.inert = true;
    host2.popover = "manual";
    host2.style.cssText = "all: initial !important; position: fixed !important; inset: 0 !important; z-index: 2147483647 !important; display: block !important; pointer-events: none !important;";
    const shadow = host2.attachShadow({ mode: "closed" });
    const look2 = new CSSStyleSheet();
    look2.replaceSync(`
    i, b { position: absolute; box-sizing: border-box; }
    i { border: 1px solid #c2185b; border-radius: 2px; }
    b { height: ${HEIGHT}px; padding: 0 3px; border-radius: 3px; background: #c2185b; color: #fff; box-shadow: 0 0 0 1px #fff; font: bold 11px/${HEIGHT}px monospace; white-space: nowrap; }
  `);
    shadow.adoptedStyleSheets = [look2];
    const seen = [];
    const taken = [];
    for (const ref of refs) {
      if (seen.length === MAX_NUMBERS) break;
      const element = elementOf(ref);
      const rect = element && isVisible(element) ? [...rects(element)].find(({ width, height }) => width > 0 && height > 0) : void 0;
      if (!element || !rect || !overlap2(rect, part) || !isSeen(element, rect)) continue;
      const frame = createElement(document, "i");
      frame.style.cssText = `left: ${rect.left}px; top: ${rect.top}px; width: ${rect.width}px; height: ${rect.height}px`;
      const label = createElement(document, "b");
      const place = besides(rect, ref.length * LETTER + 6, taken);
      taken.push(place);
      label.textContent = ref;
      label.style.cssText = `left: ${place.left}px; top: ${place.top}px`;
      shadow.append(frame, label);
      seen.push(ref);
    }
    append(root, host2);
    try {
      host2.showPopover();
    } catch {
    }
    const remove = () => {
      clearTimeout(timer);
      host2.remove();
      globalThis.tabhubNumbers = void 0;
    };
    const timer = setTimeout(remove, LASTS);
    globalThis.tabhubNumbers = { remove };
    return seen;
  }
  function isSeen(element, { left, top, width, height }) {
    const parts = [element, ...labelsOf(element)];
    return [[left + width / 2, top + height / 2], [left + 2, top + 2]].some(([x, y]) => {
      const at = deepestAt(document, x, y);
      return at !== null && outward(at, (outer) => parts.includes(outer)) !== null;
    });
  }
  function besides({ left, top, width, height }, length, taken) {
    const within2 = (at) => ({
      left: Math.max(0, Math.min(at.left, innerWidth - length)),
      top: Math.max(0, Math.min(at.top, innerHeight - HEIGHT)),
      width: length,
      height: HEIGHT
    });
    const places = [
      { left, top: top - HEIGHT },
      { left: left - length, top },
      { left: left + width, top },
      { left, top: top + height },
      { left: left + width - length, top: top - HEIGHT },
      { left, top }
    ].map(within2);
    const own = { left, top, width, height };
    const free = places.filter((place) => !taken.some((other) => overlap2(place, other)));
    return free.find((place) => !overlap2(place, own)) ?? free[0] ?? places[0];
  }
  function overlap2(a, b) {
    return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
  }

  // content/steps/click.ts
  var ITEMS3 = /^(option|menuitem|menuitemradio|menuitemcheckbox)$/;
  var LEFT = 0;
  var RIGHT = 2;
  var HELD = 1;
  var HELD_RIGHT = 2;
  function click(found2, scope) {
    return pressed(found2, scope, 1) ?? `clicked ${found2.words}`;
  }
  async function clicks(found2, scope, count2, signal) {
    for (let detail = 1; detail <= count2; detail++) {
      if (detail > 1) await turn2();
      signal.throwIfAborted();
      const hindered = detail > 1 ? hindrance(found2, scope, middle(found2.element)) : "";
      if (hindered) throw new Failure("STEP_REFUSED", `${hindered} after it was clicked ${detail - 1 === 1 ? "once" : `${detail - 1} times`}`);
      const otherwise = pressed(found2, scope, detail);
      if (otherwise) return otherwise;
      if (detail === 2) mouse(found2.element, middle(found2.element), "dblclick", { detail });
    }
    return `${count2 === 2 ? "double-clicked" : `clicked ${count2} times`} ${found2.words}`;
  }
  function rightClick(found2, scope) {
    const { element } = found2;
    const at = middle(element);
    moveTo(element, at);
    const items = itemsOf(element);
    down(element, at, RIGHT, 1);
    up(element, at, RIGHT, 1);
    perhaps(() => {
      const hindered = hindrance(found2, scope, at, items);
      if (hindered) throw new Failure("STEP_REFUSED", `${hindered} while it was pressed`);
    });
    mouse(element, at, "auxclick", { button: RIGHT, detail: 1 });
    const left = mouse(element, at, "contextmenu", { button: RIGHT });
    return `right-clicked ${found2.words}${left ? "; the page has no menu of its own for that" : ""}`;
  }
  function hover(found2) {
    moveTo(found2.element, middle(found2.element));
    return `moved the mouse over ${found2.words}`;
  }
  function pressed(found2, scope, detail) {
    const { element } = found2;
    const at = middle(element);
    const items = itemsOf(element);
    const open = attribute(element, "aria-expanded");
    moveTo(element, at);
    if (down(element, at, LEFT, detail)) focusOn(element);
    up(element, at, LEFT, detail);
    const hindered = hindrance(found2, scope, at, items);
    const is = isConnected(element) ? attribute(element, "aria-expanded") : open;
    if (hindered && is !== open) return `pressed ${found2.words}, which ${is === "true" ? "opened" : "closed"} it`;
    if (hindered && ITEMS3.test(found2.role) && !(isConnected(element) && isVisible(element))) return `pressed ${found2.words}, which then was gone`;
    perhaps(() => {
      if (hindered) throw new Failure("STEP_REFUSED", `${hindered} while it was pressed`);
      check(element, scope);
    });
    followed(element, mouse(element, at, "click", { detail }));
    return void 0;
  }
  function hindrance(found2, scope, at, items) {
    const problem = another(found2, scope);
    if (problem) return problem;
    const is = items === void 0 ? "" : itemsOf(found2.element);
    if (items !== void 0 && is !== items) return `${found2.words} in ${JSON.stringify(clean(items))} has become one in ${JSON.stringify(clean(is))}`;
    const cover = coverAt(found2.element, at);
    return cover ? `${found2.words} was moved, or is ${cover}` : "";
  }
  function down(element, at, button, detail) {
    const buttons = button === RIGHT ? HELD_RIGHT : HELD;
    withoutMouse = !pointer(element, at, "pointerdown", { button, buttons });
    return !withoutMouse && mouse(element, at, "mousedown", { button, buttons, detail });
  }
  function up(under, at, button, detail) {
    const element = heir(under);
    pointer(element, at, "pointerup", { button });
    if (!withoutMouse) mouse(element, at, "mouseup", { button, detail });
    withoutMouse = false;
    if (!captor) return;
    if (isConnected(captor)) pointer(captor, at, "lostpointercapture", { cancelable: false });
    captor = void 0;
  }
  var withoutMouse = false;
  var over;
  var captor;
  function capture(element) {
    if (element) pointer(element, { x: 0, y: 0 }, "gotpointercapture", { cancelable: false });
    captor = element;
  }
  function heir(element) {
    return captor && isConnected(captor) ? captor : element;
  }
  function moveTo(under, at, buttons = 0) {
    const element = heir(under);
    const last = over?.deref();
    const before = last && last !== element && isConnected(last) ? last : void 0;
    if (last !== element) {
      over = new WeakRef(element);
      const [left, entered] = [before ? outwards(before) : [], outwards(element)];
      const both = (type2, on, to) => {
        pointer(on, at, `pointer${type2}`, { buttons, button: -1, ...to });
        if (!withoutMouse) mouse(on, at, `mouse${type2}`, { buttons, ...to });
      };
      const silent = { bubbles: false, cancelable: false, composed: false };
      if (before) both("out", before, { relatedTarget: element });
      for (const on of left) if (!entered.includes(on)) both("leave", on, { ...silent, relatedTarget: element });
      both("over", element, { relatedTarget: before });
      for (const on of entered.reverse()) if (!left.includes(on)) both("enter", on, { ...silent, relatedTarget: before });
    }
    pointer(element, at, "pointermove", { buttons, button: -1 });
    if (!withoutMouse) mouse(element, at, "mousemove", { buttons });
  }
  function outwards(element) {
    const all2 = [];
    outward(element, (at) => all2.push(at) < 0);
    return all2;
  }
  function pointer(element, at, type2, more) {
    const view = viewOf(element);
    return dispatch(element, new view.PointerEvent(type2, { ...placed(view, at), pointerId: 1, pointerType: "mouse", isPrimary: true, ...more }));
  }
  function mouse(element, at, type2, more) {
    const view = viewOf(element);
    return dispatch(element, new view.MouseEvent(type2, { ...placed(view, at), ...more }));
  }
  function placed(view, { x, y }) {
    return { bubbles: true, cancelable: true, composed: true, view, clientX: x, clientY: y, screenX: view.screenX + x, screenY: view.screenY + y };
  }
  function focusOn(element) {
    const at = outward(element, (at2) => matchesSelector(at2, "a[href],button,input,select,textarea,[tabindex],[contenteditable]"));
    if (at && isHTML(at, localName(at))) focus(at, { preventScroll: true });
  }

  // content/steps/drag.ts
  var MOVES = 8;
  var BEYOND = 1 / 8;
  async function drag(found2, to, scope, signal) {
    const { element } = found2;
    const from = middle(element);
    moveTo(element, from);
    down(element, from, 0, 1);
    let held;
    try {
      await drawn();
      const source = draggable(element);
      held = source ? lifted(source, element, from) : void 0;
      if (!inView(to.element)) scrollIntoView(to.element, { block: "center", inline: "nearest", behavior: "instant" });
      for (let i = 1; i <= MOVES; i++) {
        signal.throwIfAborted();
        moved(found2, to, scope);
        const at2 = between(from, end(from, to.element), i / MOVES);
        const under2 = deepestAt(documentOf(element), at2.x, at2.y);
        const isIn = under2 && outward(under2, (outer) => outer === to.element);
        if (held) held.over(i === MOVES && !isIn ? to.element : under2 ?? element, at2);
        else moveTo(under2 ?? element, at2, HELD);
        await drawn();
      }
      signal.throwIfAborted();
      moved(found2, to, scope);
    } catch (error) {
      if (held) held.end(from, false);
      else if (isConnected(element)) pointer(element, from, "pointercancel", {});
      throw error;
    }
    const at = end(from, to.element);
    if (held) return dropped(found2, to, held, at);
    const under = deepestAt(documentOf(element), at.x, at.y) ?? element;
    const over2 = coverAt(to.element, at);
    moveTo(under, at, HELD);
    up(under, at, 0, 1);
    const isOn = !over2 || outward(under, (outer) => outer === element) !== null;
    return `dragged ${found2.words} to ${to.words}${isOn ? "" : `, which is ${over2}`}`;
  }
  function moved(found2, to, scope) {
    for (const at of [found2, to]) {
      const problem = another(at, scope);
      if (problem.startsWith(`${at.words} has become`)) continue;
      if (problem) throw new Failure("STEP_REFUSED", `${problem} while it was dragged`);
    }
  }
  function inView(element) {
    const view = viewOf(element);
    const { x, y } = middle(element);
    return x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
  }
  function end(from, element) {
    const { x, y } = middle(element);
    const [{ width, height }] = [...rects(element)];
    const isDown = Math.abs(y - from.y) >= Math.abs(x - from.x);
    return isDown ? { x, y: y + Math.sign(y - from.y) * height * BEYOND } : { x: x + Math.sign(x - from.x) * width * BEYOND, y };
  }
  function between(from, to, part) {
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  }
  function draggable(element) {
    return outward(element, (at) => isHTML(at, localName(at)) && isDraggable(at) && (attribute(at, "draggable") === "true" || isHTML(at, "img") || isHTML(at, "a") && hasAttribute(at, "href"))) ?? void 0;
  }
  function lifted(source, element, from) {
    const view = viewOf(source);
    const data = new view.DataTransfer();
    const event = (on, type2, at, more = {}) => dispatch(on, new view.DragEvent(type2, { ...placed(view, at), buttons: HELD, dataTransfer: data, ...more }));
    if (!event(source, "dragstart", from)) return void 0;
    if (isConnected(element)) pointer(element, from, "pointercancel", {});
    let last;
    let takes2 = false;
    return {
      over(on, at) {
        if (isConnected(source)) event(source, "drag", at);
        if (on !== last) {
          event(on, "dragenter", at, { relatedTarget: last });
          if (last && isConnected(last)) event(last, "dragleave", at, { relatedTarget: on });
          last = on;
        }
        takes2 = !event(on, "dragover", at);
      },
      end(at, drop2) {
        if (last && isConnected(last)) {
          if (drop2 && takes2) event(last, "drop", at, { buttons: 0 });
          else event(last, "dragleave", at, { buttons: 0 });
        }
        if (isConnected(source)) event(source, "dragend", at, { buttons: 0, cancelable: false });
        return takes2;
      }
    };
  }
  function dropped(found2, to, held, at) {
    if (held.end(at, true)) return `dragged ${found2.words} to ${to.words}`;
    throw new Failure("STEP_REFUSED", `${to.words} does not take what was dragged there`);
  }

  // content/steps/keys.ts
  var MODIFIERS = {
    Control: { code: "ControlLeft", keyCode: 17, flag: "ctrlKey" },
    Shift: { code: "ShiftLeft", keyCode: 16, flag: "shiftKey" },
    Alt: { code: "AltLeft", keyCode: 18, flag: "altKey" },
    Meta: { code: "MetaLeft", keyCode: 91, flag: "metaKey" }
  };
  var NAMED3 = {
    Backspace: 8,
    Tab: 9,
    Enter: 13,
    Escape: 27,
    PageUp: 33,
    PageDown: 34,
    End: 35,
    Home: 36,
    ArrowLeft: 37,
    ArrowUp: 38,
    ArrowRight: 39,
    ArrowDown: 40,
    Insert: 45,
    Delete: 46,
    ContextMenu: 93,
    F1: 112,
    F2: 113,
    F3: 114,
    F4: 115,
    F5: 116,
    F6: 117,
    F7: 118,
    F8: 119,
    F9: 120,
    F10: 121,
    F11: 122,
    F12: 123
  };
  var ALIASES = {
    esc: "Escape",
    return: "Enter",
    del: "Delete",
    ins: "Insert",
    pgup: "PageUp",
    pgdn: "PageDown",
    up: "ArrowUp",
    down: "ArrowDown",
    left: "ArrowLeft",
    right: "ArrowRight",
    space: " ",
    spacebar: " ",
    plus: "+",
    ctrl: "Control",
    cmd: "Meta",
    command: "Meta",
    win: "Meta",
    option: "Alt"
  };
  var SIGNS = [
    ["Space", 32, " ", " "],
    ["Minus", 189, "-", "_"],
    ["Equal", 187, "=", "+"],
    ["BracketLeft", 219, "[", "{"],
    ["BracketRight", 221, "]", "}"],
    ["Backslash", 220, "\\", "|"],
    ["Semicolon", 186, ";", ":"],
    ["Quote", 222, "'", '"'],
    ["Backquote", 192, "`", "~"],
    ["Comma", 188, ",", "<"],
    ["Period", 190, ".", ">"],
    ["Slash", 191, "/", "?"]
  ];
  var DIGITS = ")!@#$%^&*(";
  function keyOf(name) {
    const parts = name.split("+");
    if (parts.length > 1 && parts.at(-1) === "") parts.splice(-2, 2, "+");
    const [last, ...before] = parts.reverse();
    const held = before.reverse().map((part) => {
      const modifier = named3(part);
      if (Object.hasOwn(MODIFIERS, modifier)) return modifier;
      throw unknown(name);
    });
    const key = named3(last);
    if (Object.hasOwn(MODIFIERS, key)) return { said: name, key, ...MODIFIERS[key], text: "", held };
    if (Object.hasOwn(NAMED3, key)) return { said: name, key, code: key, keyCode: NAMED3[key], text: "", held };
    if ([...key].length !== 1 || /[\p{C}\p{Z}]/u.test(key.replace(" ", ""))) throw unknown(name);
    const isCommand = held.some((modifier) => modifier !== "Shift");
    const typed = held.includes("Shift") ? shifted(key) : isCommand ? key.toLowerCase() : key;
    return { said: name === " " ? "Space" : name, key: typed, ...placeOf2(key), text: isCommand ? "" : typed, held };
  }
  function named3(part) {
    const lower = part.toLowerCase();
    const alias = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : void 0;
    if (alias) return alias;
    return [...Object.keys(NAMED3), ...Object.keys(MODIFIERS)].find((key) => key.toLowerCase() === lower) ?? part;
  }
  function shifted(key) {
    const sign = SIGNS.find(([, , alone]) => alone === key);
    if (sign) return sign[3];
    return /\d/.test(key) ? DIGITS[Number(key)] : key.toUpperCase();
  }
  function placeOf2(key) {
    const sign = SIGNS.find(([, , alone, shift]) => alone === key || shift === key);
    if (sign) return { code: sign[0], keyCode: sign[1] };
    const digit = /\d/.test(key) ? Number(key) : DIGITS.indexOf(key);
    if (digit >= 0) return { code: `Digit${digit}`, keyCode: 48 + digit };
    return /[a-z]/i.test(key) ? { code: `Key${key.toUpperCase()}`, keyCode: key.toUpperCase().charCodeAt(0) } : { code: "", keyCode: 0 };
  }
  function unknown(name) {
    return new Failure("STEP_REFUSED", `there is no key ${JSON.stringify(clean(name, 40))}; keys are named such as a, Enter, Escape, Tab, Space, ArrowDown, PageDown, F2, and with others held as Control+A`);
  }

  // content/steps/scroll.ts
  var ADDS = 1500;
  var TURNS = 0.875;
  var LINE = 40;
  async function scrollTo(found2) {
    scrollIntoView(found2.element, { block: "center", inline: "nearest", behavior: "instant" });
    await drawn();
    return `scrolled to ${found2.words}`;
  }
  async function scrollPages(found2, pages, signal) {
    const scroller = found2 ? scrollerIn(found2.element) ?? scrollerOf(found2.element) : scrollerOfAll();
    const what = isPage(scroller) ? "the page" : foundOf(scroller).words;
    const height = scrollHeight(scroller);
    const before = scrollTop(scroller);
    scrollBy(scroller, { top: pages * clientHeight(scroller), behavior: "instant" });
    await drawn();
    const added = pages > 0 && isAtEnd(scroller) ? await inTime(ADDS, signal, () => scrollHeight(scroller) > height + 1 ? true : void 0) : void 0;
    const moved2 = Math.abs(scrollTop(scroller) - before) > 1;
    const where = isAtEnd(scroller) ? "it is at its end" : scrollTop(scroller) < 1 ? "it is at its beginning" : `it is at ${Math.round(100 * (scrollTop(scroller) + clientHeight(scroller)) / scrollHeight(scroller))} %`;
    const behind = pages > 0 && isAtEnd(scroller) && !added && document.visibilityState === "hidden" ? "; while its tab is behind, a page may add no more (browser_tab activate shows it)" : "";
    return `${moved2 ? "scrolled" : "could not scroll"} ${what} ${pages > 0 ? "down" : "up"}: ${where}${added ? ", and more has come below" : ""}${behind}`;
  }
  function scrollByKey(element, key) {
    const scroller = isHTML(element, "body", "html") ? scrollerOfAll() : scrollerOf(element);
    const page = clientHeight(scroller) * TURNS;
    const by = { ArrowUp: -LINE, ArrowDown: LINE, PageUp: -page, PageDown: page, " ": page, Home: -scrollHeight(scroller), End: scrollHeight(scroller) }[key];
    if (by) scrollBy(scroller, { top: by, behavior: "instant" });
  }
  function isPage(scroller) {
    return scroller === scrollerOfPage(documentOf(scroller)) || isHTML(scroller, "html", "body");
  }
  function isAtEnd(scroller) {
    return scrollTop(scroller) + clientHeight(scroller) >= scrollHeight(scroller) - 2;
  }
  function scrolls(element) {
    if (scrollHeight(element) <= clientHeight(element) + 1 || clientHeight(element) === 0) return false;
    return isPage(element) || /^(auto|scroll|overlay)$/.test(viewOf(element)?.getComputedStyle(element).overflowY ?? "");
  }
  function scrollerOf(element) {
    return outward(element, scrolls) ?? pageOf(documentOf(element)) ?? element;
  }
  function pageOf(doc) {
    return scrollerOfPage(doc) ?? bodyOf(doc);
  }
  function scrollerIn(element) {
    if (outward(element, scrolls) === element) return element;
    const size2 = (at) => clientHeight(at);
    return [...query(element, "*")].filter((at) => scrolls(at) && isVisible(at)).sort((a, b) => size2(b) - size2(a))[0];
  }
  function scrollerOfAll() {
    const page = pageOf(document) ?? document.documentElement;
    if (scrolls(page)) return page;
    const middle2 = deepestAt(document, innerWidth / 2, innerHeight / 2);
    return (middle2 && outward(middle2, scrolls)) ?? scrollerIn(page) ?? page;
  }

  // content/steps/defaults.ts
  var LINES = /^(text|search|email|tel|url|number|password|date|time|month|week|datetime-local)$/;
  function edits(element) {
    return isLine(element) || isHTML(element, "textarea") || isHTML(element, localName(element)) && isEditable(element);
  }
  function isLine(element) {
    return isHTML(element, "input") && LINES.test(inputType(element));
  }
  function byDefault(found2, key, scope) {
    const { element } = found2;
    if (key.key === "Tab") return void moveFocus(element, key.held.includes("Shift"), scope);
    if (key.key === "Escape") return void closeTopmost(element);
    if (key.key === "Enter") return void enter(found2, key, scope);
    if (edits(element)) return void edit(found2, key, scope);
    if (key.held.some((name) => name !== "Shift")) return void 0;
    if (key.text === " " && isPressable(element)) {
      return () => {
        perhaps(() => check(element, scope));
        nativeClick(element);
      };
    }
    if (!choose(element, key.key)) scrollByKey(element, key.key === " " && key.held.includes("Shift") ? "PageUp" : key.key);
    return void 0;
  }
  function isPressable(element) {
    return isHTML(element, "button", "summary") || isHTML(element, "input") && /^(button|submit|reset|image|checkbox|radio)$/.test(inputType(element));
  }
  function enter(found2, key, scope) {
    const { element } = found2;
    if (isHTML(element, "textarea") || isHTML(element, localName(element)) && isEditable(element)) {
      if (key.held.every((name) => name === "Shift")) edit(found2, key, scope);
      return;
    }
    perhaps(() => check(element, scope, true));
    if (isHTML(element, "a") && hasAttribute(element, "href")) {
      const view = viewOf(element);
      return followed(element, dispatch(element, new view.MouseEvent("click", { bubbles: true, cancelable: true, composed: true, view })));
    }
    if (isHTML(element, "button", "summary")) return nativeClick(element);
    const form = isLine(element) ? formOf(element) : null;
    if (!form) return;
    const button = defaultButton(form);
    if (button) return matchesSelector(button, ":disabled") ? void 0 : nativeClick(button);
    const lines = [...formElements(form)].filter((at) => isHTML(at, "input") && !/^(hidden|checkbox|radio|range|color|file|button|reset)$/.test(inputType(at)));
    if (lines.length === 1) requestSubmit(form);
  }
  var COMMANDS = {
    Backspace: ["delete", "deleteContentBackward"],
    Delete: ["forwardDelete", "deleteContentForward"],
    Enter: ["insertParagraph", "insertParagraph"],
    "Shift+Enter": ["insertLineBreak", "insertLineBreak"],
    "Control+z": ["undo", "historyUndo"],
    "Control+y": ["redo", "historyRedo"],
    "Control+Shift+Z": ["redo", "historyRedo"],
    "Control+b": ["bold", "formatBold"],
    "Control+i": ["italic", "formatItalic"],
    "Control+u": ["underline", "formatUnderline"]
  };
  var MOVES2 = {
    ArrowLeft: ["left", "character"],
    ArrowRight: ["right", "character"],
    ArrowUp: ["backward", "line"],
    ArrowDown: ["forward", "line"],
    Home: ["backward", "lineboundary"],
    End: ["forward", "lineboundary"],
    "Control+ArrowLeft": ["left", "word"],
    "Control+ArrowRight": ["right", "word"],
    "Control+Home": ["backward", "documentboundary"],
    "Control+End": ["forward", "documentboundary"]
  };
  function edit(found2, { key, text, held }, scope) {
    const { element } = found2;
    const isNumber = isHTML(element, "input") && inputType(element) === "number";
    if (isNumber && /^Arrow(Up|Down)$/.test(key)) return step(element, key === "ArrowUp");
    const others = held.filter((name) => name !== "Shift").map((name) => name === "Meta" ? "Control" : name);
    const called = [...others, ...held.includes("Shift") && !text ? ["Shift"] : [], key].join("+");
    if (called === "Control+a") {
      if (isHTML(element, "input", "textarea")) selectText(element);
      else execCommand(documentOf(element), "selectAll");
      return;
    }
    const move = MOVES2[called.replace("Shift+", "")];
    const selection = selectionOf(documentOf(element));
    if (move && selection) return moveSelection(selection, held.includes("Shift") ? "extend" : "move", ...move);
    const [command, inputType_] = text ? ["insertText", "insertText"] : COMMANDS[called] ?? [];
    if (!command) return;
    perhaps(() => {
      takes(found2, scope);
      if (!hasFocus(element)) throw new Failure("STEP_REFUSED", `${found2.words} has not got the focus`);
    });
    insert(element, command, inputType_, text || void 0);
  }
  function insert(element, command, type2, text) {
    const view = viewOf(element);
    const selection = selectionOf(documentOf(element));
    const init = { bubbles: true, cancelable: true, composed: true, inputType: type2, data: text ?? null };
    const targetRanges = selection && isEditable(element) && selection.rangeCount > 0 ? [new view.StaticRange(selection.getRangeAt(0))] : [];
    if (!dispatch(element, new view.InputEvent("beforeinput", { ...init, targetRanges }))) return;
    if (hasFocus(element)) execCommand(documentOf(element), command, false, text);
  }
  function choose(element, key) {
    const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key];
    if (isHTML(element, "input") && inputType(element) === "range") {
      if (!by) return false;
      step(element, /^Arrow(Up|Right)$/.test(key));
      return true;
    }
    if (isHTML(element, "select")) {
      const options = [...selectOptions(element)].filter((option) => !matchesSelector(option, ":disabled"));
      const at = options.findIndex((option) => isSelected(option));
      const to = by ? options[Math.min(Math.max(at + by, 0), options.length - 1)] : key === "Home" ? options[0] : key === "End" ? options.at(-1) : void 0;
      if (!to || isSelected(to)) return by !== void 0;
      setSelected(to, true);
      changed(element);
      return true;
    }
    if (!by || !isHTML(element, "input") || inputType(element) !== "radio") return false;
    const name = attribute(element, "name");
    const group = name ? [...query(rootOf(element), `input[type=radio i][name="${CSS.escape(name)}"]:enabled`)].filter((at) => formOf(at) === formOf(element)) : [];
    const next = group.at((group.indexOf(element) + by) % group.length);
    if (next && next !== element) {
      focus(next, { preventScroll: true });
      nativeClick(next);
    }
    return true;
  }
  function step(element, isUp) {
    (isUp ? stepUp : stepDown)(element);
    changed(element, "");
  }
  var FOCUSABLE = "a[href],area[href],button,input,select,textarea,summary,iframe,[tabindex],[contenteditable],audio[controls],video[controls]";
  function moveFocus(element, isBack, scope) {
    const modal = [...query(documentOf(element), "dialog:modal")].at(-1);
    const isIn = (at) => !modal || outward(at, (outer) => outer === modal) !== null;
    const stops = all({ selector: FOCUSABLE }, document, scope).filter((at) => isHTML(at, localName(at)) && tabIndex(at) >= 0 && isIn(at) && !matchesSelector(at, ":disabled,input[type=hidden i]") && !outward(at, (outer) => hasAttribute(outer, "inert"))).map((at, i) => ({ at, order: tabIndex(at) || Number.POSITIVE_INFINITY, i })).sort((a, b) => a.order === b.order ? a.i - b.i : a.order - b.order).map(({ at }) => at);
    const here = stops.indexOf(element);
    const next = isBack ? stops.at(here < 0 ? -1 : here - 1) : stops[(here + 1) % stops.length];
    if (!next || isBack && here === 0 || !isBack && here === stops.length - 1) {
      if (isHTML(element, localName(element))) blur(element);
      return;
    }
    focus(next);
    if (isLine(next)) selectText(next);
  }
  function closeTopmost(element) {
    const doc = documentOf(element);
    const popover = [...query(doc, ':popover-open:is([popover=""],[popover=auto i])')].at(-1);
    if (popover) return hidePopover(popover);
    const dialog = [...query(doc, "dialog:modal")].at(-1);
    const view = viewOf(element);
    if (dialog && dispatch(dialog, new view.Event("cancel", { cancelable: true }))) closeDialog(dialog);
  }

  // content/steps/press.ts
  function focusedIn(scope, tree = document) {
    const element = focused(tree) ?? bodyOf(tree);
    if (!element) throw new Failure("STEP_NOT_FOUND", "the page has nothing yet that a key could go to").later();
    if (isHTML(element, "iframe", "frame")) {
      const inner = isHTML(element, "iframe") && frameDocument(element, scope);
      if (inner) return focusedIn(scope, inner);
      throw new Failure("STEP_REFUSED", "a frame of another document has the focus; name an element in it to press a key there");
    }
    if (isHTML(element, "body", "html")) return { element, role: "", name: "", words: "the page" };
    return foundOf(element);
  }
  function checkKey(found2, key, scope) {
    const { element } = found2;
    if (CLIPBOARD.test(key.said)) {
      throw new Failure("NEEDS_TRUSTED_INPUT", `browsers let only a person use the clipboard by ${key.said}; read gives what a page shows, and fill puts text into a field`);
    }
    if (key.key === "F11") throw new Failure("NEEDS_TRUSTED_INPUT", "browsers let only a person switch to the whole screen");
    if (key.key === "Enter") check(element, scope, true);
    if (key.key === " " && key.text && isHTML(element, "button", "input", "summary") && !edits(element)) check(element, scope);
    const problem = changes2(key) && (edits(element) || key.text.length > 0) ? refusal(found2) : "";
    if (problem) throw new Failure("STEP_REFUSED", `${found2.words} ${problem}`);
  }
  var CLIPBOARD = /^(((control|ctrl|meta|cmd|command)\+(shift\+)?[cvx])|((control|ctrl)\+insert|shift\+(insert|delete)))$/i;
  function changes2({ text, key, held }) {
    return text !== "" || /^(Backspace|Delete)$/.test(key) || /^[zyZY]$/.test(key) && held.length > 0;
  }
  function press(found2, key, scope) {
    const { element } = found2;
    const view = viewOf(element);
    if (found2.words !== "the page") focusOn(element);
    const flags = {};
    const event = (type2, init) => isConnected(element) && dispatch(element, new view.KeyboardEvent(type2, { bubbles: true, cancelable: true, composed: true, view, ...flags, ...init }));
    const place = ({ code, keyCode }) => ({ code, keyCode, which: keyCode });
    for (const name of key.held) {
      flags[MODIFIERS[name].flag] = true;
      event("keydown", { key: name, ...place(MODIFIERS[name]) });
    }
    const own = { key: key.key, ...place(key) };
    const char = key.key === "Enter" ? 13 : key.text.codePointAt(0) ?? 0;
    const meant = event("keydown", own) && (char === 0 || event("keypress", { ...own, charCode: char, keyCode: char, which: char }));
    const after = meant && isConnected(element) ? byDefault(found2, key, scope) : void 0;
    const let_go = event("keyup", own);
    if (let_go && after && !unusable(element, scope)) after();
    for (const name of [...key.held].reverse()) {
      flags[MODIFIERS[name].flag] = false;
      event("keyup", { key: name, ...place(MODIFIERS[name]) });
    }
    return `pressed ${key.said} ${found2.words === "the page" ? "on" : "in"} ${found2.words}`;
  }

  // content/steps/select.ts
  var OPTIONS = /^(option|menuitem|menuitemradio|menuitemcheckbox|treeitem)$/;
  var OPENS = 2e3;
  var SHOWS = 500;
  var PAGES = 30;
  function isList({ element, role }) {
    if (isHTML(element, "input", "textarea")) return false;
    return /^(listbox|combobox)$/.test(role) || opens(element);
  }
  function opens(element) {
    return /^(true|menu|listbox|tree)$/.test(attribute(element, "aria-haspopup") ?? "");
  }
  function selectEdit(found2, labels, scope) {
    const { element, role } = found2;
    if (labels.length === 0 && !(isHTML(element, "select") && isMultiple(element))) throw new Failure("STEP_REFUSED", `${found2.words} takes an option`);
    if (isHTML(element, "select")) return nativeEdit(found2, labels);
    if (!isList(found2) && role !== "combobox") throw new Failure("STEP_REFUSED", `${found2.words} is no list of options; click it, and then what it shows`);
    if (role !== "listbox") check(element, scope);
    if (labels.length > 1 && role === "combobox" && isHTML(element, "input")) throw new Failure("STEP_REFUSED", `${found2.words} takes one option at a time`);
    return (signal) => choose2(found2, labels, scope, signal);
  }
  function nativeEdit(found2, labels) {
    const { element } = found2;
    if (labels.length !== 1 && !isMultiple(element)) throw new Failure("STEP_REFUSED", `${found2.words} takes one option`);
    const chosen = labels.map((label) => {
      const labelled2 = [...selectOptions(element)].filter((option) => optionLabel(option).trim() === label);
      const options = labelled2.length ? labelled2 : [...selectOptions(element)].filter((option) => optionValue(option) === label);
      if (options.length === 0) throw new Failure("STEP_NOT_FOUND", `${found2.words} has no option ${JSON.stringify(clean(label))}`, optionsOf2(element)).later();
      if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found2.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
      if (matchesSelector(options[0], ":disabled")) throw new Failure("STEP_REFUSED", `${found2.words} has option ${JSON.stringify(clean(label))}, which is disabled`).later();
      return options[0];
    });
    return () => {
      for (const option of selectOptions(element)) if (isSelected(option) !== chosen.includes(option)) setSelected(option, chosen.includes(option));
      changed(element);
      if (!chosen.every((option) => isSelected(option))) throw refused(found2);
      return chosen.map((option) => JSON.stringify(clean(optionLabel(option)))).join(", ") || "none";
    };
  }
  function optionsOf2(select) {
    return [...selectOptions(select)].slice(0, 5).map((option) => `option ${JSON.stringify(clean(optionLabel(option)))}`);
  }
  async function choose2(found2, labels, scope, signal) {
    const { element, role } = found2;
    const chosen = [];
    for (const label of labels) {
      const list = role === "listbox" ? element : await opened(found2, scope, signal);
      if (isHTML(element, "input") && inputValue(element) !== label) {
        setInputValue(element, label);
        changed(element, label);
      }
      const option = await optionIn(found2, list, label, scope, signal);
      chosen.push(option);
      if (attribute(option, "aria-selected") !== "true" || role !== "listbox") await clickOption(foundOf(option), scope);
      await drawn();
    }
    if (role === "listbox" && attribute(element, "aria-multiselectable") === "true") {
      for (const other of offered(element, scope)) if (attribute(other, "aria-selected") === "true" && !chosen.includes(other)) await clickOption(foundOf(other), scope);
    }
    const shows = () => labels.every((label) => isChosen(found2, chosen, label)) || void 0;
    const known2 = await inTime(SHOWS, signal, shows);
    return labels.map((label) => JSON.stringify(clean(label))).join(", ") + (known2 ? "" : ", which the page does not show as chosen");
  }
  async function opened(found2, scope, signal) {
    const { element } = found2;
    const list = () => {
      for (const name of ["aria-controls", "aria-owns"]) {
        for (const id of (attribute(element, name) ?? "").split(/\s+/).filter(Boolean)) {
          for (const at of query(rootOf(element), `#${CSS.escape(id)}`)) if (isVisible(at) && offered(at, scope).length > 0) return at;
        }
      }
      return void 0;
    };
    const there = list();
    if (there || attribute(element, "aria-expanded") === "true" && offered(void 0, scope).length > 0) return there;
    const before = offered(void 0, scope);
    click(found2, scope);
    const more = () => list() ?? (offered(void 0, scope).some((option) => !before.includes(option)) ? null : void 0);
    let open = await inTime(OPENS / 4, signal, more);
    if (open === void 0 && !unusable(element, scope)) {
      press(found2, keyOf("ArrowDown"), scope);
      open = await inTime(OPENS, signal, more);
    }
    return open ?? void 0;
  }
  function offered(list, scope) {
    const options = list ? [...query(list, "[role]")] : all({ selector: "[role]" }, document, scope);
    return options.filter((at) => OPTIONS.test(roleOf(at)) && isVisible(at));
  }
  async function optionIn(found2, list, label, scope, signal) {
    let seen = [];
    const look2 = () => {
      seen = offered(list, scope).filter((option) => option !== found2.element);
      const fitting2 = seen.filter((option) => foundOf(option).name === label || lineOf(option) === label);
      return fitting2.length > 0 ? fitting2 : void 0;
    };
    let options = await inTime(OPENS / 4, signal, look2);
    for (let page = 0; !options && page < PAGES && seen.length > 0; page++) {
      const said = await scrollPages(foundOf(outward(seen[0], (at) => /^(listbox|menu|tree)$/.test(roleOf(at))) ?? seen[0]), 1, signal);
      if (said.startsWith("could not")) break;
      options = await inTime(OPENS / 10, signal, look2);
    }
    options ??= await inTime(OPENS / 2, signal, look2);
    if (!options) {
      const names = seen.slice(0, 5).map((option) => words(option));
      throw new Failure("STEP_NOT_FOUND", seen.length > 0 ? `${found2.words} has no option ${JSON.stringify(clean(label))}` : `${found2.words} shows no options when it is clicked`, names);
    }
    if (options.length > 1) throw new Failure("STEP_AMBIGUOUS", `${found2.words} has ${options.length} options ${JSON.stringify(clean(label))}`);
    return options[0];
  }
  function lineOf(option) {
    return isHTML(option, localName(option)) ? innerText(option).replace(/\s+/g, " ").trim() : "";
  }
  async function clickOption(option, scope) {
    const problem = unusable(option.element, scope);
    if (problem) throw new Failure("STEP_REFUSED", `${option.words} ${problem}`);
    scrollIntoView(option.element, { block: "nearest", behavior: "instant" });
    await drawn();
    const changedTo = another(option, scope);
    if (changedTo) throw new Failure("STEP_REFUSED", changedTo);
    const cover = coverOf(option.element);
    if (cover) throw new Failure("STEP_REFUSED", `${option.words} is ${cover}`);
    check(option.element, scope);
    click(option, scope);
  }
  function isChosen({ element, role }, options, label) {
    if (isHTML(element, "input") && inputValue(element).includes(label)) return true;
    if (role !== "listbox" && isConnected(element) && isHTML(element, localName(element)) && innerText(element).includes(label)) return true;
    return options.some((option) => isConnected(option) && ["aria-selected", "aria-checked"].some((name) => attribute(option, name) === "true") && (foundOf(option).name === label || lineOf(option) === label));
  }

  // content/steps/widgets.ts
  var SHOWS2 = 1e3;
  var MAX_KEYS = 1e3;
  function richEdit(found2, text, scope) {
    const { element } = found2;
    const ready = () => perhaps(() => {
      takes(found2, scope);
      if (!hasFocus(element)) throw refused(found2);
    });
    return async (signal) => {
      ready();
      const before = shown(element);
      const selection = selectionOf(documentOf(element));
      if (selection) selectContents(selection, element);
      await drawn();
      signal.throwIfAborted();
      const lines = text.split(/\r\n?|\n/);
      if (text === "") {
        ready();
        insert(element, "delete", "deleteContentBackward");
      }
      for (const [i, line2] of lines.entries()) {
        if (i > 0) {
          ready();
          insert(element, "insertParagraph", "insertParagraph");
          await turn2();
        }
        if (line2 === "") continue;
        ready();
        insert(element, "insertText", "insertText", line2);
        await turn2();
      }
      const wanted = squeezed(text);
      const took = await inTime(SHOWS2, signal, () => squeezed(shown(element)) === wanted ? true : void 0);
      if (!took && shown(element) === before) throw refused(found2);
      return JSON.stringify(clean(text)) + (took ? "" : `, and the page shows ${JSON.stringify(clean(shown(element)))}`);
    };
  }
  function shown(element) {
    return innerText(element);
  }
  function squeezed(text) {
    return text.replace(/[\s\u200b\ufeff]+/g, "");
  }
  function sliderEdit(found2, text, scope) {
    const { element } = found2;
    const number2 = (name) => Number(attribute(element, `aria-value${name}`) ?? Number.NaN);
    const wanted = Number(text);
    const [min, max] = [number2("min"), number2("max")];
    if (text.trim() === "" || Number.isNaN(wanted)) throw new Failure("STEP_REFUSED", `${found2.words} takes a number such as 1.5, not ${JSON.stringify(clean(text))}`);
    if (Number.isNaN(number2("now"))) throw new Failure("STEP_REFUSED", `${found2.words} does not say what it is at; press its arrow keys, or drag it`);
    if (wanted < min || wanted > max) throw new Failure("STEP_REFUSED", `${found2.words} goes from ${min} to ${max}`);
    return async (signal) => {
      for (let keys = 0; number2("now") !== wanted && keys < MAX_KEYS; keys++) {
        signal.throwIfAborted();
        perhaps(() => takes(found2, scope));
        const before = number2("now");
        press(found2, keyOf(wanted > before ? "ArrowRight" : "ArrowLeft"), scope);
        const now = await inTime(SHOWS2, signal, () => number2("now") === before ? void 0 : number2("now"));
        if (now === void 0) throw refused(found2);
        if (wanted > before !== wanted > now || Math.abs(wanted - now) > Math.abs(wanted - before)) break;
      }
      return number2("now") === wanted ? text : `${text}, which the page made ${number2("now")}`;
    };
  }

  // content/steps/fill.ts
  function fill(edits2, scope, signal) {
    const done = [];
    const failed = (error) => {
      if (error instanceof Failure) {
        error.did = done.length > 0 || error.did === "perhaps" ? "perhaps" : "no";
        error.words = done.length > 0 ? `set ${done.length} of ${edits2.length} fields: ${done.join(", ")}` : "";
      }
      return error;
    };
    const from = (at) => {
      for (let i = at; i < edits2.length; i++) {
        const { found: found2, edit: edit2 } = edits2[i];
        const set = (value) => void done.push(`${found2.words} to ${value}`);
        try {
          signal.throwIfAborted();
          const problem = another(found2, scope);
          if (problem) throw new Failure("STEP_REFUSED", problem);
          focusOn(found2.element);
          perhaps(() => takes(found2, scope));
          const value = edit2(signal);
          if (typeof value !== "string") return value.then(set, (error) => Promise.reject(failed(error))).then(() => from(i + 1));
          set(value);
        } catch (error) {
          throw failed(error);
        }
      }
      return done.length > 0 ? `set ${done.join(", ")}` : "left all fields as they are";
    };
    return from(0);
  }
  function takes(found2, scope) {
    const problem = unusable(found2.element, scope) || refusal(found2);
    if (problem) throw new Failure("STEP_REFUSED", `${found2.words} ${problem}`);
  }
  function refusal({ element, name }) {
    const kind = secret(element, name);
    if (kind) return `is ${kind}: only a person fills that in`;
    const readonly = matchesSelector(element, "input:read-only,textarea:read-only") && isHTML(element, "textarea", "input") && hasAttribute(element, "readonly");
    return readonly || attribute(element, "aria-readonly") === "true" ? "is read-only" : "";
  }
  function editOf(found2, wanted, scope) {
    const { element } = found2;
    const problem = refusal(found2);
    if (problem) throw new Failure("STEP_REFUSED", `${found2.words} ${problem}`);
    const type2 = isHTML(element, "input") ? inputType(element) : "";
    if (type2 === "file") throw new Failure("NEEDS_TRUSTED_INPUT", `${found2.words}: browsers let only a person choose files`);
    if (/^(button|submit|reset|image)$/.test(type2)) throw new Failure("STEP_REFUSED", `${found2.words} is no field`);
    if (/^(checkbox|radio|switch|menuitemcheckbox)$/.test(found2.role)) return checkEdit(found2, wanted, scope);
    if (isHTML(element, "select") || isList(found2)) return selectEdit(found2, (Array.isArray(wanted) ? wanted : [wanted]).map((label) => plain(label, found2.words).trim()), scope);
    const text = plain(wanted, found2.words);
    if (isHTML(element, "input", "textarea")) return textEdit(found2, text);
    if (found2.role === "slider" || found2.role === "spinbutton" && !isEditable(element)) return sliderEdit(found2, text, scope);
    if (hasAttribute(element, "contenteditable")) return richEdit(found2, text, scope);
    throw new Failure("STEP_REFUSED", `${found2.words} is no field`);
  }
  function checkEdit(found2, value, scope) {
    const { element } = found2;
    const wanted = scope.literal && /^(true|false)$/.test(String(value)) ? String(value) === "true" : value;
    if (typeof wanted !== "boolean") throw new Failure("STEP_REFUSED", `${found2.words} takes true or false`);
    const isOn = () => isHTML(element, "input") ? isChecked(element) : attribute(element, "aria-checked") === "true";
    if (!wanted && found2.role === "radio") throw new Failure("STEP_REFUSED", `${found2.words} cannot be set to false; set another one of its group to true`);
    check(element, scope);
    return () => {
      if (isOn() !== wanted) click(found2, scope);
      if (isHTML(element, "input") && isOn() !== wanted) throw refused(found2);
      return String(wanted);
    };
  }
  function refused(found2) {
    const failure = new Failure("NEEDS_TRUSTED_INPUT", `${found2.words} did not take what it was set to; the page may take a person's input only`);
    failure.did = "perhaps";
    return failure;
  }
  function textEdit(found2, text) {
    const { element } = found2;
    const isInput = isHTML(element, "input");
    const [get, set] = isInput ? [inputValue, setInputValue] : [areaValue, setAreaValue];
    const max = Number(attribute(element, "maxlength") ?? -1);
    if (max >= 0 && text.length > max) throw new Failure("STEP_REFUSED", `${found2.words} takes ${max} characters, not ${text.length}`);
    const taken = isInput ? sanitized(element, text) : text.replace(/\r\n?/g, "\n");
    if (isInput && inputType(element) === "range" && Number(taken) !== Number(text)) throw new Failure("STEP_REFUSED", `${found2.words} takes ${rangeOf2(element)}, not ${JSON.stringify(clean(text))}`);
    if (taken === "" && text !== "") throw new Failure("STEP_REFUSED", `${found2.words} takes ${FORMS[inputType(element)] ?? "something else"}, not ${JSON.stringify(clean(text))}`);
    return () => {
      const before = get(element);
      set(element, text);
      changed(element, text);
      const now = get(element);
      if (now !== taken && now === before) throw refused(found2);
      return JSON.stringify(clean(text)) + (now === taken ? "" : `, which the page made ${JSON.stringify(clean(now))}`);
    };
  }
  var FORMS = {
    number: "a number such as 1.5",
    range: "a number such as 1.5",
    date: "a date such as 2027-01-31",
    time: "a time such as 14:30",
    month: "a month such as 2027-01",
    week: "a week such as 2027-W05",
    "datetime-local": "a date and time such as 2027-01-31T14:30",
    color: "a colour such as #ff0000"
  };
  function sanitized(element, text) {
    const input = document.createElement("input");
    input.type = inputType(element);
    for (const bound of input.type === "range" ? [...BOUNDS, "value"] : []) input.setAttribute(bound, attribute(element, bound) ?? "");
    input.value = text;
    return input.value;
  }
  var BOUNDS = ["min", "max", "step"];
  function rangeOf2(element) {
    const [min, max, step2] = BOUNDS.map((bound) => attribute(element, bound) || NaN).map(Number);
    return `a number from ${min || 0} to ${isNaN(max) ? 100 : max}${step2 && step2 !== 1 ? `, in steps of ${step2}` : ""}`;
  }
  function changed(element, data) {
    const view = viewOf(element);
    const event = data === void 0 ? new view.Event("input", { bubbles: true, composed: true }) : new view.InputEvent("input", { bubbles: true, composed: true, inputType: "insertReplacementText", data });
    dispatch(element, event);
    dispatch(element, new view.Event("change", { bubbles: true }));
  }

  // content/steps/upload.ts
  var OPENS2 = 1e3;
  var LEVELS2 = 4;
  function uploadTo(found2, files, scope) {
    const field = fieldOf(found2.element);
    if (field) return put(found2, field, files);
    if (!asksForFiles(found2)) return () => drop(found2, files);
    check(found2.element, scope);
    return async (signal) => put(found2, await askedBy(found2, scope, signal), files)();
  }
  function asksForFiles({ element, role }) {
    return /^(button|link|menuitem)$/.test(role) && !fieldOf(element);
  }
  async function askedBy(found2, scope, signal) {
    let field;
    const view = viewOf(found2.element);
    const heard = (event) => {
      const at = event.composedPath()[0];
      if (event.isTrusted || !(at instanceof view.Element) || !isFileField(at)) return;
      event.preventDefault();
      field = at;
    };
    view.addEventListener("click", heard, true);
    try {
      click(found2, scope);
      const asked = await inTime(OPENS2, signal, () => field);
      if (asked) return asked;
    } finally {
      view.removeEventListener("click", heard, true);
    }
    throw new Failure("STEP_NOT_FOUND", `${found2.words} opened no file field when it was clicked; name the field, or what files can be dropped onto`);
  }
  function put(found2, field, files) {
    const called = `${words(field)}${field === found2.element ? "" : ` of ${found2.words}`}`;
    if (matchesSelector(field, ":disabled")) throw new Failure("STEP_REFUSED", `${called} is disabled`);
    if (hasAttribute(field, "webkitdirectory")) throw new Failure("NEEDS_TRUSTED_INPUT", `${called} takes a folder, which browsers let only a person choose`);
    if (files.length > 1 && !hasAttribute(field, "multiple")) throw new Failure("STEP_REFUSED", `${called} takes one file, not ${files.length}`);
    return () => {
      setInputFiles(field, transferOf(field, files).files);
      changed(field);
      return `put ${named4(files)} into ${called}`;
    };
  }
  function fieldOf(element) {
    if (isFileField(element)) return element;
    const label = outward(element, (at) => isHTML(at, "label"));
    const control = label && controlOf(label);
    if (control && isFileField(control)) return control;
    const inside = fieldsIn(element);
    if (inside.length > 0) return inside.length === 1 ? inside[0] : void 0;
    if (!isHTML(element, "button", "a", "input") && !/^(button|link|menuitem)$/.test(attribute(element, "role") ?? "")) return void 0;
    let outer = around(element);
    for (let level = 0; outer && level < LEVELS2 && !isHTML(outer, "body", "html"); level++, outer = around(outer)) {
      const near = fieldsIn(outer);
      if (near.length > 0) return near.length === 1 ? near[0] : void 0;
    }
    return void 0;
  }
  function fieldsIn(element) {
    const shadow = shadowOf(element);
    return [...query(element, "input[type=file i]"), ...shadow ? query(shadow, "input[type=file i]") : []];
  }
  function isFileField(element) {
    return isHTML(element, "input") && inputType(element) === "file";
  }
  function drop(found2, files) {
    const { element } = found2;
    const view = viewOf(element);
    const dataTransfer = transferOf(element, files);
    const event = (type2) => dispatch(element, new view.DragEvent(type2, { ...placed(view, middle(element)), dataTransfer }));
    event("dragenter");
    const isTaken = !event("dragover");
    if (!isTaken) {
      event("dragleave");
      throw new Failure("STEP_REFUSED", `${found2.words} takes no files that are dropped there`);
    }
    event("drop");
    return `dropped ${named4(files)} onto ${found2.words}`;
  }
  function transferOf(element, files) {
    const view = viewOf(element);
    const transfer = new view.DataTransfer();
    for (const { name, mimeType = "", data } of files) {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
      transfer.items.add(new view.File([bytes], name, { type: mimeType, lastModified: Date.now() }));
    }
    return transfer;
  }
  function named4(files) {
    return files.map(({ name }) => JSON.stringify(name)).join(", ");
  }

  // content/steps/act.ts
  function actOf(step2, scope, now) {
    const found2 = (target) => usable(target, scope, now);
    if (step2.click) return clickAct(found2(step2.click.target), step2.click, scope);
    if (step2.fill) return fillAct(step2.fill.fields, found2, scope);
    if (step2.select) return selectAct(found2(step2.select.target), step2.select.options, scope);
    if (step2.press) return pressAct(step2.press.target ? found2(step2.press.target) : focusedIn(scope), keyOf(step2.press.key), scope);
    if (step2.hover) return hoverAct(found2(step2.hover.target));
    if (step2.scroll) return scrollAct(step2.scroll, scope);
    if (step2.drag) return dragAct(usable(step2.drag.to, scope, false), found2(step2.drag.target), scope);
    if (step2.upload) return uploadAct(found2(step2.upload.target), step2.upload.files, scope);
    throw new Failure("STEP_REFUSED", "this browser cannot do that");
  }
  function clickAct(found2, { button, count: count2 = 1 }, scope) {
    if (button === "right") return { on: [found2], do: () => rightClick(found2, scope) };
    check(found2.element, scope);
    return { on: [found2], do: (signal) => count2 > 1 ? clicks(found2, scope, count2, signal) : click(found2, scope) };
  }
  function fillAct(fields, find, scope) {
    const edits2 = fields.flatMap(({ target, value }) => {
      const wanted = valueOf2(value, scope);
      if (wanted === ABSENT || wanted === null) return [];
      const found2 = find(target);
      return [{ found: found2, edit: editOf(found2, wanted, scope) }];
    });
    return { on: edits2.map(({ found: found2 }) => found2), do: (signal) => fill(edits2, scope, signal) };
  }
  function selectAct(found2, options, scope) {
    const edit2 = selectEdit(found2, options.map((option) => option.trim()), scope);
    return { on: [found2], do: (signal) => fill([{ found: found2, edit: edit2 }], scope, signal) };
  }
  function pressAct(found2, key, scope) {
    checkKey(found2, key, scope);
    return { on: [found2], do: () => press(found2, key, scope) };
  }
  function hoverAct(found2) {
    return { on: [found2], do: () => hover(found2) };
  }
  function scrollAct({ target, pages }, scope) {
    const found2 = target && usable(target, scope, false);
    if (found2 && !pages) return { on: [found2], do: () => scrollTo(found2) };
    return { on: found2 ? [found2] : [], do: (signal) => scrollPages(found2, pages ?? 1, signal) };
  }
  function dragAct(to, found2, scope) {
    if (found2.element === to.element) throw new Failure("STEP_REFUSED", `${found2.words} would be dragged onto itself`);
    return { on: [found2, to], do: (signal) => drag(found2, to, scope, signal) };
  }
  function uploadAct(found2, files, scope) {
    return { on: [found2], do: uploadTo(found2, files, scope) };
  }

  // content/steps/dialog.ts
  var LASTS2 = 1e4;
  var MAX = 3;
  var Dialogs = class {
    #name;
    #next;
    #asked = [];
    /** The address of a tab that the page could not open. */
    #opened;
    /** The file field that it could not open. */
    #field;
    /** @param name of the events; undefined: the dialogs are the browser's */
    constructor(name) {
      this.#name = name;
      if (name) for (const [type2, heard] of this.#hears(name)) addEventListener(type2, heard, true);
    }
    /** Says how the next dialog is answered that has a choice. */
    next(answer) {
      this.#next = answer;
    }
    /** A step is about to act. */
    answer() {
      this.#tell(LASTS2);
    }
    /** Nothing is answered any more, and the page has its own functions. */
    end() {
      this.#tell(0);
      if (this.#name) for (const [type2, heard] of this.#hears(this.#name)) removeEventListener(type2, heard, true);
      this.#name = void 0;
      capture(void 0);
    }
    /** What the page has asked since this was called last, to be put after what a step did; "" if nothing. */
    words() {
      const asked = this.#asked.splice(0);
      this.#opened ??= asked.find(({ kind }) => kind === "open")?.message;
      const more = asked.length > MAX ? `; and ${asked.length - MAX} times more` : "";
      return asked.slice(0, MAX).map((one2) => `; ${inWords(one2)}`).join("") + more;
    }
    /** Fails if the page wanted what browsers do only for a person. */
    check() {
      const [opened2, field] = [this.#opened, this.#field];
      this.#opened = this.#field = void 0;
      if (field) throw needsPerson(`the page wanted to have files chosen for ${words(field)}, which browsers let it do only for a person; upload does it, by what was clicked`);
      if (opened2 === void 0) return;
      const to = URL.canParse(opened2, location.href) ? new URL(opened2, location.href).href : opened2;
      throw needsPerson(`the page wanted to open another tab, which browsers let it do only for a person; browser_tab new does it, with the address ${clean(to, 2e3)}`);
    }
    #tell(lasts) {
      if (this.#name) dispatch(document, new CustomEvent(`${this.#name} answer`, { detail: JSON.stringify({ lasts, next: this.#next }) }));
    }
    #hears(name) {
      return [[`${name} asked`, this.#heard], [`${name} captured`, this.#captured], ["click", this.#clicked]];
    }
    /** The page clicks a file field, which opens nothing. */
    #clicked = (event) => {
      const at = event.composedPath()[0];
      if (!event.isTrusted && at instanceof Element && isHTML(at, "input") && inputType(at) === "file") queueMicrotask(() => !event.defaultPrevented && (this.#field = at));
    };
    /** The page gives the mouse's events to an element, or to none. */
    #captured = (event) => {
      const at = event.composedPath()[0];
      capture(at instanceof Element ? at : void 0);
    };
    #heard = (event) => {
      const { detail } = event;
      if (typeof detail !== "string") return;
      let asked;
      try {
        asked = JSON.parse(detail);
      } catch {
        return;
      }
      const { kind, message, got, told } = asked ?? {};
      if (!KINDS2.includes(kind) || typeof message !== "string" || typeof got !== "string" || this.#asked.length > 1e3) return;
      if (told === true) this.#next = void 0;
      this.#asked.push({ kind, message, got, told: told === true });
    };
  };
  function needsPerson(message) {
    return Object.assign(new Failure("NEEDS_TRUSTED_INPUT", message), { did: "yes" });
  }
  var KINDS2 = ["alert", "confirm", "prompt", "print", "open"];
  function inWords({ kind, message, got, told }) {
    const quoted2 = JSON.stringify(clean(message, 300));
    const again = told ? "" : "; to answer otherwise, say dialog before it, and do it again";
    switch (kind) {
      case "alert":
        return `the page said ${quoted2}`;
      case "confirm":
        return `the page asked ${quoted2} and got ${clean(got, 10)}${again}`;
      case "prompt":
        return `the page asked for a text, ${quoted2}, and got ${got === "Cancel" ? got : JSON.stringify(clean(got, 80))}${again}`;
      case "print":
        return "the page wanted to print, and was not let";
      case "open":
        return "the page wanted to open another tab";
    }
  }

  // patterns.ts
  function matchesAny(patterns, address) {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return patterns.some((pattern) => matches(pattern, url));
  }
  function matches(pattern, { href: href2, protocol, hostname, port, pathname, search: search2 }) {
    const parts = /^(https?):\/\/(\*\.)?(\[[^\]/]*\]|[^:/*]+)(?::(\d+))?(\/.*)$/.exec(pattern);
    if (!parts) return false;
    const [, scheme, below, host2, onPort, path] = parts;
    if (protocol !== `${scheme}:`) return false;
    if (onPort && onPort !== (port || (scheme === "https" ? "443" : "80"))) return false;
    const at = hostname.replace(/\.$/, "");
    if (at !== host2 && !(below && at.endsWith(`.${host2}`))) return false;
    const query2 = search2 || (/^[^#]*\?/.test(href2) ? "?" : "");
    return `${pathname}${query2}/*` === path || glob(path, pathname + query2);
  }
  function glob(pattern, text) {
    const [head, ...rest] = pattern.split("*");
    if (!rest.length) return text === pattern;
    if (!text.startsWith(head)) return false;
    let at = head.length;
    const tail = rest.pop();
    for (const part of rest) {
      const found2 = text.indexOf(part, at);
      if (found2 < 0) return false;
      at = found2 + part.length;
    }
    return text.length - at >= tail.length && text.endsWith(tail);
  }

  // content/steps/scope.ts
  function scopeOf({ match, origins, args = {}, values = {} }) {
    const given = { args: { ...args }, values: { ...values } };
    if (!origins) return { ...given, inMatch: (address) => matchesAny(match, address), outside: "where the pack does not reach" };
    return { ...given, literal: true, inMatch: (address) => origins.includes(originOf(address)), outside: "which is not on this site" };
  }
  function originOf(address) {
    if (/^about:(blank|srcdoc)/.test(address)) return self.origin;
    return URL.canParse(address) ? new URL(address).origin : "";
  }

  // content/steps/trusted.ts
  var MOUSE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "contextmenu", "dblclick"];
  var MOVES3 = ["pointermove", "mousemove"];
  function trustedActOf(step2, scope, now, give) {
    if (step2.click) {
      const { target, button = "", count: count2 = 1 } = step2.click;
      const found2 = usable(target, scope, now);
      leads3(found2, scope);
      const right = button === "right";
      const said = `${right ? "right-clicked" : count2 === 1 ? "clicked" : count2 === 2 ? "double-clicked" : `clicked ${count2} times`} ${found2.words}`;
      return act([found2], said, scope, [...MOUSE, ...MOVES3], () => give({ kind: "click", ...pointOf(found2.element), button: right ? "right" : "left", count: count2 }, said));
    }
    if (step2.hover) {
      const found2 = usable(step2.hover.target, scope, now);
      const said = `moved the mouse over ${found2.words}`;
      return act([found2], said, scope, MOVES3, () => give({ kind: "hover", ...pointOf(found2.element) }, said));
    }
    if (step2.drag) {
      const to = usable(step2.drag.to, scope, false);
      const found2 = usable(step2.drag.target, scope, now);
      const said = `dragged ${found2.words} to ${to.words}`;
      const trusted = act([found2, to], said, scope, ["pointerdown", "mousedown"], () => give({ kind: "drag", from: pointOf(found2.element), to: pointOf(to.element) }, said));
      return { on: [found2, to], do: (signal) => (isOnScreen(found2.element) && isOnScreen(to.element) ? trusted : actOf(step2, scope, now)).do(signal) };
    }
    if (step2.press) return pressAct2(step2.press.target ? usable(step2.press.target, scope, now) : focusedIn(scope), keyOf(step2.press.key), scope, give);
    if (step2.fill) return fillAct2(step2.fill.fields, actOf(step2, scope, now), scope, give);
    if (step2.upload) return uploadAct2(usable(step2.upload.target, scope, now), step2, scope, now, give);
    if (step2.scroll?.pages) return scrollAct2(actOf(step2, scope, now), step2.scroll.pages, give);
    return void 0;
  }
  function act(on, said, scope, events, give) {
    return {
      on,
      async do() {
        const guard = new Guard(on[0], scope, events);
        try {
          await give();
        } finally {
          guard.end();
        }
        guard.check();
        return said;
      }
    };
  }
  function pressAct2(found2, key, scope, give) {
    const { element } = found2;
    if (PASTES.test(key.said)) throw new Failure("STEP_REFUSED", `${key.said} would give the page what the person has copied; fill puts a text into a field`);
    unlessTrusted(() => checkKey(found2, key, scope));
    const said = `pressed ${key.said} ${found2.words === "the page" ? "on" : "in"} ${found2.words}`;
    const trusted = act([found2], said, scope, ["keydown"], () => give({ kind: "keys", keys: [keyFor(key)] }, said));
    return {
      on: [found2],
      do(signal) {
        if (found2.words === "the page") return trusted.do(signal);
        focusOn(element);
        return hasFocus(element) ? trusted.do(signal) : press(found2, key, scope);
      }
    };
  }
  var PASTES = /^(((control|ctrl|meta|cmd|command)\+(shift\+)?v)|shift\+insert)$/i;
  function keyFor({ key, code, keyCode, text, held }) {
    return { key, code, keyCode, text, held };
  }
  function fillAct2(fields, { on }, scope, give) {
    return {
      on,
      do(signal) {
        const set = [];
        const failed = (error) => {
          if (error instanceof Failure && set.length > 0) Object.assign(error, { did: "perhaps", words: `set ${set.length} of ${fields.length} fields: ${set.join(", ")}` });
          return error;
        };
        const from = (at) => {
          for (let i = at; i < fields.length; i++) {
            const one2 = actOf({ fill: { fields: [fields[i]] } }, scope, true);
            if (one2.on.length === 0) continue;
            const typed = (error) => {
              const wanted = valueOf2(fields[i].value, scope);
              if (error instanceof Failure && error.code === "NEEDS_TRUSTED_INPUT" && (typeof wanted === "string" || typeof wanted === "number")) return type(one2.on[0], String(wanted), scope, give);
              throw error;
            };
            let words2;
            try {
              words2 = one2.do(signal);
            } catch (error) {
              try {
                words2 = typed(error);
              } catch (error2) {
                throw failed(error2);
              }
            }
            const add = (said) => void set.push(said.replace(/^set /, ""));
            if (typeof words2 !== "string") return words2.catch(typed).then(add, (error) => Promise.reject(failed(error))).then(() => from(i + 1));
            add(words2);
          }
          return set.length > 0 ? `set ${set.join(", ")}` : "left all fields as they are";
        };
        return from(0);
      }
    };
  }
  var MAX_KEYS2 = 100;
  async function type(found2, text, scope, give) {
    const { element } = found2;
    takes(found2, scope);
    focusOn(element);
    if (!hasFocus(element)) throw new Failure("STEP_REFUSED", `${found2.words} does not take the focus`);
    if (isHTML(element, "input", "textarea")) selectText(element);
    else {
      const selection = selectionOf(documentOf(element));
      if (selection) selectContents(selection, element);
    }
    const byKeys = text.length <= MAX_KEYS2 && /^[\x20-\x7e]*$/.test(text);
    const keys = text === "" ? [keyFor(keyOf("Delete"))] : [...text].map((letter) => keyFor(keyOf(letter)));
    const said = `set ${found2.words} to ${JSON.stringify(clean(text))}, by keys`;
    return await act([found2], said, scope, [byKeys ? "keydown" : "beforeinput"], () => give(byKeys ? { kind: "keys", keys } : { kind: "text", text })).do(new AbortController().signal);
  }
  function uploadAct2(found2, step2, scope, now, give) {
    if (!asksForFiles(found2)) return actOf(step2, scope, now);
    leads3(found2, scope);
    const names = step2.upload?.files.map(({ name }) => JSON.stringify(clean(name, 80))).join(", ");
    const said = `put ${names} where ${found2.words} asks for files`;
    return act([found2], said, scope, [...MOUSE, ...MOVES3], () => give({ kind: "choose", ...pointOf(found2.element) }, said));
  }
  function scrollAct2(scripted, pages, give) {
    return {
      on: scripted.on,
      async do(signal) {
        const words2 = await scripted.do(signal);
        if (!words2.startsWith("could not scroll")) return words2;
        const [found2] = scripted.on;
        const at = found2 ? pointOf(found2.element) : { x: innerWidth / 2, y: innerHeight / 2 };
        await give({ kind: "wheel", ...at, dx: 0, dy: Math.round(pages * innerHeight) });
        return `turned the wheel over ${found2 ? found2.words : "the page"}`;
      }
    };
  }
  function unlessTrusted(look2) {
    try {
      look2();
    } catch (error) {
      if (!(error instanceof Failure && error.code === "NEEDS_TRUSTED_INPUT")) throw error;
    }
  }
  function leads3({ element, words: words2 }, scope) {
    if (isHTML(element, "input") && inputType(element) === "file") throw new Failure("STEP_REFUSED", `${words2} takes files: upload puts them there`);
    unlessTrusted(() => check(element, scope));
  }
  function pointOf(element) {
    let { x, y } = middle(element);
    for (let view = viewOf(element); view !== window; view = view.parent) {
      const frame = view.frameElement;
      const [rect] = frame ? rects(frame) : [];
      if (!frame || !rect) throw new Failure("STEP_REFUSED", "its frame is gone");
      x += rect.left + frame.clientLeft;
      y += rect.top + frame.clientTop;
    }
    return { x, y };
  }
  function isOnScreen(element) {
    const { x, y } = pointOf(element);
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  }
  var Guard = class {
    #found;
    #scope;
    #stop = new AbortController();
    #seen = false;
    /** Whether the button that was pressed has clicked: what a label passes on comes after that. */
    #clicked = false;
    #hindered = "";
    constructor(found2, scope, events) {
      this.#found = found2;
      this.#scope = scope;
      const view = viewOf(found2.element);
      for (const type2 of events) view.addEventListener(type2, this.#heard, { capture: true, signal: this.#stop.signal });
    }
    #heard = (event) => {
      if (!event.isTrusted) return;
      const at = event.composedPath()[0];
      const { element } = this.#found;
      const parts = [element, ...labelsOf(element)];
      const isThere = this.#found.words === "the page" || at instanceof Element && outward(at, (outer) => parts.includes(outer)) !== null;
      if (MOVES3.includes(event.type)) {
        this.#seen ||= isThere;
        return;
      }
      if (/^key|input$/.test(event.type) && this.#seen && !this.#hindered) return;
      if (event.type === "mousedown") this.#clicked = false;
      if (event.type === "click" && this.#clicked) return;
      if (!isThere) this.#hindered ||= `${this.#found.words} is covered by ${at instanceof Element ? words(at) : "something else"} by now`;
      else if (event.type === "click") this.#hindered ||= another(this.#found, this.#scope) || this.#elsewhere();
      this.#seen = true;
      this.#clicked ||= event.type === "click";
      if (!this.#hindered) return;
      event.stopImmediatePropagation();
      event.preventDefault();
    };
    /** Why a click must not lead where it leads by now. */
    #elsewhere() {
      try {
        leads3(this.#found, this.#scope);
        return "";
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    }
    end() {
      this.#stop.abort();
    }
    check() {
      if (!this.#hindered && this.#seen) return;
      const failure = new Failure("STEP_REFUSED", this.#hindered ? `${this.#hindered}: it got none of it` : `${this.#found.words} got nothing of the input; something else on the page may have got it`);
      failure.did = this.#hindered ? "no" : "perhaps";
      failure.certain = true;
      throw failure;
    }
  };

  // content/steps/read.ts
  var MAX_ROWS = 100;
  var MAX_TEXT2 = 1e5;
  var GIVES = {
    ref: (element) => referencesOf()?.of(foundOf(element)),
    role: roleOf,
    name: (element) => nameOf(element)
  };
  function read({ list, fields = {}, table, max = MAX_ROWS }, scope, mayBeNone = false) {
    const limit = max || MAX_ROWS;
    if (table) return readTable(table.target, table.columns ?? {}, limit, scope);
    if (!list) {
      return { value: readFields(fields, void 0, scope), words: `read ${Object.keys(fields).join(", ")}` };
    }
    const rows = all(list, document, scope);
    if (rows.length === 0 && !list.in && !mayBeNone) throw new Failure("STEP_NOT_FOUND", `there is no ${describe(list, scope)}`).later();
    const value = rows.slice(0, limit).map((row) => readFields(fields, row, scope));
    return { value, words: `read ${count(value.length, rows.length)} of ${describe(list, scope)}`, empty: rows.length === 0 };
  }
  function count(read2, there) {
    return read2 < there ? `the first ${read2} of ${there}` : String(read2);
  }
  function readFields(fields, row, scope) {
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => {
      try {
        return [name, readField(field, row, scope)];
      } catch (error) {
        if (error instanceof Failure) error.message = `${name}: ${error.message}`;
        throw error;
      }
    }));
  }
  function readField({ target, give = "text", attribute: named5, optional }, row, scope) {
    let element;
    try {
      element = target ? one(target, row ?? document, scope).element : row;
    } catch (error) {
      if (optional && error instanceof Failure && error.code === "STEP_NOT_FOUND") return null;
      throw error;
    }
    if (!element) throw new Failure("STEP_REFUSED", "a field without target is of a list's element, and there is no list");
    const which = GIVES[give]?.(element);
    if (which !== void 0) return which;
    const kind = secret(element, nameOf(element));
    if (kind && optional && scope.literal) return null;
    if (kind) throw new Failure("STEP_REFUSED", `${words(element)} is ${kind}: no pack reads that`);
    const value = give === "attribute" ? attribute(element, named5 ?? "") : valueIn(element, give);
    if (value !== void 0 && value !== null) return value;
    if (optional) return null;
    throw new Failure("STEP_NOT_FOUND", `${words(element)} has no ${give === "attribute" ? `attribute ${named5}` : give}`).later();
  }
  function valueIn(element, give) {
    switch (give) {
      case "number":
        return numberIn(rawText(element), languageOf(element));
      case "value":
        return valueOf(element) ?? (hasAttribute(element, "contenteditable") ? textOf2(element) : void 0);
      case "checked":
        if (isHTML(element, "input") && /^(checkbox|radio)$/.test(inputType(element))) return isChecked(element);
        return { true: true, false: false }[attribute(element, "aria-checked") ?? attribute(element, "aria-selected") ?? ""];
      case "link":
        return linkOf2(element);
    }
    return textOf2(element);
  }
  function textOf2(element) {
    return rawText(element).replace(/[^\S\n]+/g, " ").replace(/ ?\n ?/g, "\n").replace(/\n{3,}/g, "\n\n").trim().slice(0, MAX_TEXT2);
  }
  function rawText(element) {
    const field = valueOf(element);
    if (field !== void 0) return [field].flat().join(", ");
    const isPlain = isHTML(element, localName(element)) && !shadowOf(element) && ![...query(element, "*")].some(shadowOf);
    return isPlain ? innerText(element) : textIn(element);
  }
  function languageOf(element) {
    return attribute(closest(element, "[lang]") ?? documentOf(element).documentElement, "lang") ?? "";
  }
  function linkOf2(element) {
    const inner = isHTML(element, "a") ? [element] : [...query(element, "a[href]")].filter((link2) => isVisible(link2));
    const link = inner[0] ?? closest(element, "a[href]");
    if (!link || !hasAttribute(link, "href")) return void 0;
    const to = href(link);
    return inner.every((other) => href(other) === to) && /^https?:/.test(to) ? to : void 0;
  }
  function readTable(target, columns, limit, scope) {
    const { element, words: called } = one(target, document, scope);
    const rows = gridOf(element, scope);
    const isHeader = (cell) => cell !== void 0 && roleOf(cell) === "columnheader";
    const at = rows.findIndex((cells) => cells.some(isHeader));
    if (at < 0) throw new Failure("STEP_NOT_FOUND", `${called} has no row of headers`).later();
    const headers = texts(rows[at]);
    const has = headers.filter(Boolean).slice(0, 5).map((header) => `columnheader ${JSON.stringify(clean(header))}`);
    const wanted = Object.keys(columns).length ? Object.entries(columns) : headers.filter(Boolean).map((header) => [header, header]);
    const picked = wanted.map(([header, member]) => {
      const found2 = headers.filter((is) => is === header).length;
      if (found2 === 0) throw new Failure("STEP_NOT_FOUND", `${called} has no column ${JSON.stringify(clean(header))}`, has).later();
      if (found2 > 1) throw new Failure("STEP_AMBIGUOUS", `${called} has ${found2} columns ${JSON.stringify(clean(header))}`, has);
      return [headers.indexOf(header), member];
    });
    const data = rows.slice(at + 1).filter((cells) => cells.some((cell) => cell && !isHeader(cell)));
    const value = data.slice(0, limit).map((cells) => {
      const all2 = texts(cells);
      return Object.fromEntries(picked.map(([i, member]) => [member, all2[i] ?? ""]));
    });
    return { value, words: `read ${count(value.length, data.length)} ${value.length === 1 && data.length === 1 ? "row" : "rows"} of ${called}` };
  }
  function gridOf(table, scope) {
    const own = all({ role: "row" }, table, scope).filter((row) => closest(row, "table,[role=table],[role=grid],[role=treegrid]") === table);
    let above = [];
    return own.map((row) => {
      const cells = [...query(row, "td,th,[role]")].filter((cell) => CELL2.test(roleOf(cell)) && closest(cell, "tr,[role=row]") === row && isVisible(cell));
      const grid = [];
      const below = [];
      const put2 = (cell, rows) => {
        if (rows > 1) below[grid.length] = { cell, rows: rows - 1 };
        grid.push(cell);
      };
      while (cells.length > 0 || grid.length < above.length) {
        const spans = above[grid.length];
        const cell = spans ? void 0 : cells.shift();
        if (spans) put2(spans.cell, spans.rows);
        else if (!cell) grid.push(void 0);
        else for (let i = span(cell, "colspan"); i > 0; i--) put2(cell, span(cell, "rowspan"));
      }
      above = below;
      return grid;
    });
  }
  var CELL2 = /^(cell|gridcell|columnheader|rowheader)$/;
  function span(cell, name) {
    const said = attribute(cell, name) ?? attribute(cell, `aria-${name}`);
    return said === "0" && name === "rowspan" ? 1e3 : Math.min(1e3, Math.max(1, Number.parseInt(said ?? "", 10) || 1));
  }
  function texts(cells) {
    return cells.map((cell) => cell ? textOf2(cell).replace(/\s+/g, " ") : "");
  }

  // content/steps/request.ts
  var MAX_ANSWER = 4 << 20;
  var METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  var TOKEN_HEADER = /^([a-z-]*(csrf|xsrf)[a-z-]*|authorization|x-requested-with|(x-)?request-?verification-?token)$/i;
  function addressOf({ path, query: query2 = {} }, scope) {
    const url = new URL(pathOf(path, scope), self.origin);
    for (const [name, value] of fieldsOf(query2, scope)) url.searchParams.append(name, value);
    if (url.origin !== self.origin || !scope.inMatch(url.href)) {
      throw new Failure("STEP_REFUSED", `it would reach ${clean(url.href, 200)}, ${scope.outside}`);
    }
    return url.href;
  }
  async function prepare(step2, scope, signal) {
    const { method: method2 = "GET", json, form, token } = step2;
    if (!METHODS.includes(method2)) throw new Failure("STEP_REFUSED", `${clean(method2)} is no method of a pack`);
    const url = addressOf(step2, scope);
    const headers = { accept: "application/json, text/plain;q=0.9, */*;q=0.8" };
    const fields = form && fieldsOf(form, scope);
    let body = json === void 0 ? void 0 : bodyOf2(json, scope);
    const secret2 = token ? await tokenOf(token, scope, signal) : "";
    if (token) {
      if (token.header) {
        if (!TOKEN_HEADER.test(token.header)) throw new Failure("STEP_REFUSED", `${clean(token.header)} is no header for tokens`);
        headers[token.header] = secret2;
      } else if (token.field && fields) fields.push([token.field, secret2]);
      else if (token.field && Values.isObject(body)) body = { ...body, [token.field]: secret2 };
      else throw new Failure("STEP_REFUSED", "a token goes into a header, a field of the form or a member of the JSON");
    }
    if (body !== void 0) headers["content-type"] = "application/json";
    const init = {
      ...OWN,
      method: method2,
      headers,
      body: body === void 0 ? fields && new URLSearchParams(fields) : JSON.stringify(body)
    };
    return { words: `${method2} ${clean(new URL(url).pathname, 200)}`, method: method2, url, init, token: secret2 };
  }
  var OWN = { mode: "same-origin", credentials: "same-origin", redirect: "manual", cache: "no-store", referrerPolicy: "same-origin" };
  async function send({ words: words2, method: method2, url, init, token }, step2, signal) {
    const said = (text2) => clean(without(token, text2), 200);
    const failed = (message) => {
      const failure = new Failure("STEP_ANSWER", `${words2} ${message}`);
      failure.did = "perhaps";
      return failure;
    };
    let text;
    let response;
    try {
      response = await fetch(url, { ...init, signal });
      text = await textOf3(response);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw failed(`was sent, and there is no answer: ${clean(Values.errorText(error), 200)}`);
    }
    if (response.type === "opaqueredirect") throw failed("was answered with a redirect, which a request does not follow; perhaps the site wants a login, or this is better done with fill and click");
    if (text === void 0) throw failed(`was answered with more than ${MAX_ANSWER >> 20} MiB`);
    const { ok, status } = response;
    if (!ok) throw failed(`was answered with ${status}${text ? `: ${said(text)}` : ""}`);
    const done = (error) => {
      if (error instanceof Failure) error.did = "yes";
      return error;
    };
    const data = parsed(text, response.headers.get("content-type") ?? "");
    try {
      if (data === void 0) throw new Failure("STEP_ANSWER", `${words2} was answered with ${status}, and with what is no JSON: ${said(text)}`);
      if (isDeep(data)) throw new Failure("STEP_ANSWER", `${words2} was answered with ${status}, and with JSON that is nested more than ${MAX_DEPTH} times`);
      const open = token.length < LEAST ? data : withoutToken(token, data);
      if (!step2.take) return open;
      if (typeof open === "string") throw new Failure("STEP_ANSWER", `${words2} was answered with a text, of which nothing can be taken: ${said(open)}`);
      return take(open, step2.take);
    } catch (error) {
      throw method2 === "GET" ? error : done(error);
    }
  }
  var MAX_DEPTH = 64;
  function isDeep(data) {
    let level = [data];
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > MAX_DEPTH) return true;
      level = level.flatMap((value) => value !== null && typeof value === "object" ? Object.values(value) : []);
    }
    return false;
  }
  var LEAST = 8;
  function without(token, text) {
    if (!token) return text;
    const written2 = [token, encodeURIComponent(token.toWellFormed()), new URLSearchParams({ "": token }).toString().slice(1)];
    return written2.reduce((all2, one2) => all2.replaceAll(one2, "…"), text);
  }
  function withoutToken(token, data) {
    if (typeof data === "string") return without(token, data);
    if (Array.isArray(data)) return data.map((element) => withoutToken(token, element));
    if (!Values.isObject(data)) return data;
    return Object.fromEntries(Object.entries(data).map(([name, member]) => [without(token, name), withoutToken(token, member)]));
  }
  function parsed(text, type2) {
    const says = /[/+]json\b/i.test(type2);
    if (!says && !/^\s*[[{]/.test(text)) return text;
    if (says && text === "") return null;
    try {
      return JSON.parse(text);
    } catch {
      return says ? void 0 : text;
    }
  }
  async function textOf3(response) {
    const reader = response.body?.getReader();
    if (!reader) return "";
    const decoder = new TextDecoder();
    let text = "";
    let size2 = 0;
    for (; ; ) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size2 += value.byteLength;
      if (size2 > MAX_ANSWER) {
        void reader.cancel();
        return void 0;
      }
      text += decoder.decode(value, { stream: true });
    }
  }
  async function tokenOf({ meta, hidden, cookie, storage, page }, scope, signal) {
    const found2 = /* @__PURE__ */ new Set();
    const add = (value) => value && found2.add(value);
    if (meta) for (const element of query(document, `meta[name="${CSS.escape(meta)}"]`)) add(attribute(element, "content"));
    if (hidden) for (const element of query(document, `input[type=hidden i][name="${CSS.escape(hidden)}"]`)) add(inputValue(element));
    if (cookie) add(cookieOf(cookie));
    if (storage) add(stored(storage));
    if (page) {
      const answer = await fetch(addressOf(page, scope), { ...OWN, signal }).catch((error) => {
        if (signal.aborted) throw signal.reason;
        throw new Failure("STEP_ANSWER", `${page.path}, which has the token, did not answer: ${clean(Values.errorText(error), 200)}`);
      });
      if (!answer.ok) throw new Failure("STEP_ANSWER", `${page.path}, which has the token, was answered with ${answer.type === "opaqueredirect" ? "a redirect" : answer.status}`);
      const text = await textOf3(answer);
      const other = new DOMParser().parseFromString(text ?? "", "text/html");
      try {
        for (const element of query(other, page.selector)) add(attribute(element, page.attribute || "value"));
      } catch {
        throw new Failure("STEP_REFUSED", `${JSON.stringify(clean(page.selector))} is no selector`);
      }
    }
    const where = meta ? `meta element ${clean(meta)}` : hidden ? `hidden field ${clean(hidden)}` : cookie ? `cookie ${clean(cookie)}` : storage ? `entry ${clean(storage)} of the page's storage` : `${page?.path}`;
    const [token] = found2;
    if (token === void 0) throw new Failure("STEP_NOT_FOUND", `there is no token in ${where}; perhaps the site wants a login`);
    if (found2.size > 1) throw new Failure("STEP_AMBIGUOUS", `there are ${found2.size} tokens in ${where}`);
    return token;
  }
  function cookieOf(name) {
    for (const pair of document.cookie.split(/;\s*/)) {
      const [is, ...value] = pair.split("=");
      if (is !== name) continue;
      const text = value.join("=");
      try {
        return decodeURIComponent(text);
      } catch {
        return text;
      }
    }
    return null;
  }
  function stored(key) {
    try {
      return localStorage.getItem(key) ?? sessionStorage.getItem(key);
    } catch {
      return null;
    }
  }

  // content/steps/ring.ts
  var LASTS3 = 1e3;
  var AROUND = 5;
  function ring(elements) {
    if (Object.hasOwn(globalThis, "tabhubRing")) globalThis.tabhubRing?.remove();
    const hosts = elements.slice(0, 20).flatMap((element) => drawn2(element) ?? []);
    const remove = () => {
      clearTimeout(timer);
      for (const host2 of hosts) host2.remove();
      globalThis.tabhubRing = void 0;
    };
    const timer = setTimeout(remove, LASTS3);
    globalThis.tabhubRing = { remove };
  }
  function drawn2(element) {
    const doc = documentOf(element);
    const view = viewOf(element);
    const root = rootElement(doc);
    const box2 = [...rects(element)].find(({ width, height }) => width > 0 && height > 0);
    if (!view || !root || !box2) return void 0;
    const host2 = createElement(doc, "div");
    host2.setAttribute("aria-hidden", "true");
    host2.inert = true;
    host2.popover = "manual";
    host2.style.cssText = `all: initial !important; position: fixed !important; z-index: 2147483647 !important; display: block !important; pointer-events: none !important;
    left: ${box2.left - AROUND}px !important; top: ${box2.top - AROUND}px !important; width: ${box2.width + 2 * AROUND}px !important; height: ${box2.height + 2 * AROUND}px !important;`;
    const shadow = host2.attachShadow({ mode: "closed" });
    const look2 = new view.CSSStyleSheet();
    look2.replaceSync(`
    div { position: absolute; inset: 0; border: 3px solid #1f5fbf; border-radius: 8px; box-shadow: 0 0 0 2px #ffffffd9, inset 0 0 0 1px #ffffffb3; opacity: 0; animation: shown ${LASTS3}ms; }
    @keyframes shown { 0%, 70% { opacity: 1; } 100% { opacity: 0; } }
    @media (prefers-reduced-motion: no-preference) {
      div { animation: shown ${LASTS3}ms, drawn 180ms ease-out; }
      @keyframes drawn { from { transform: scale(1.15); } }
    }
    @media print { div { display: none; } }
  `);
    shadow.adoptedStyleSheets = [look2];
    shadow.append(createElement(doc, "div"));
    append(root, host2);
    try {
      host2.showPopover();
    } catch {
    }
    return host2;
  }

  // steps.ts
  var ACTING = ["open", "click", "fill", "press", "select", "hover", "scroll", "drag", "upload"];
  var VERBS = ["request", ...ACTING, "read", "wait", "dialog", "look"];
  function isActing(step2) {
    const { request } = step2;
    return ACTING.some((verb) => step2[verb] !== void 0) || request !== void 0 && ((request.method ?? "GET") !== "GET" || request.token !== void 0);
  }
  function verbOf(step2) {
    return VERBS.find((verb) => verb in step2) ?? "";
  }

  // content/steps/run.ts
  var LEAVING = 100;
  var EMPTY = 500;
  var MAX_VALUES = 4 << 20;
  var TOKENS2 = 4e3;
  var Left = class extends Error {
  };
  var Run = class {
    id;
    #begin;
    #post;
    #scope;
    #dialogs;
    #reports = [];
    #stop = new AbortController();
    /** The step that waits for its go. */
    #asked;
    /** The input that the worker is giving. */
    #given;
    /** What the worker may not have heard. */
    #said = [];
    /** Whether the run is over here. */
    ended = false;
    constructor(begin, post) {
      this.id = begin.id;
      this.#begin = begin;
      this.#post = post;
      this.#scope = scopeOf(begin);
      referencesOf(begin.tag);
      this.#dialogs = new Dialogs(begin.dialogs);
      for (const { dialog } of begin.steps.slice(0, begin.from)) if (dialog) this.#dialogs.next(dialog);
      void this.#all();
    }
    // ---- What the worker says
    go(step2) {
      if (this.#asked?.step !== step2) return;
      const { go } = this.#asked;
      this.#asked = void 0;
      go();
    }
    refused(step2, code, reason) {
      if (this.#asked?.step !== step2) return;
      this.#asked.refused(new Failure(code, reason));
      this.#asked = void 0;
    }
    /** The worker has given the page input, or not. */
    input(step2, error) {
      if (this.#given?.step !== step2) return;
      const { done, failed } = this.#given;
      this.#given = void 0;
      if (!error) return done();
      const failure = new Failure(error.code, error.reason);
      failure.did = error.begun ? "perhaps" : "no";
      failure.certain = true;
      failed(failure);
    }
    stop(reason) {
      this.#stop.abort(new Failure("STEP_STOPPED", reason));
    }
    /** The document goes: nothing more is begun or said. */
    leave() {
      this.ended = true;
      this.#dialogs.end();
      this.#stop.abort(new Left());
    }
    /** Says again what a worker that has just started may not know. */
    again() {
      if (this.#given) this.input(this.#given.step, { code: "STEP_LOST", reason: "the browser stopped the extension's worker while it gave the page input", begun: true });
      for (const message of this.#said) this.#post(message);
      if (this.#asked && !this.ended) this.#post({ type: "grant", id: this.id, step: this.#asked.step });
    }
    #say(message) {
      if (message.type !== "progress") this.#said.push(message);
      this.#post(message);
    }
    // ---- Steps
    async #all() {
      const { from, steps, result, more } = this.#begin;
      let at = from;
      try {
        for (; at < steps.length; at++) {
          if (await this.#step(at, steps[at])) {
            this.ended = true;
            this.#dialogs.end();
            return;
          }
          const { words: words2 } = this.#reports[at - from];
          this.#say({ type: "progress", id: this.id, step: at, words: `step ${at + 1}${more ? "" : ` of ${steps.length}`}: ${words2}` });
        }
        at = steps.length - 1;
        const value = result ? evaluate(result, this.#scope) : this.#scope.values[""] ?? null;
        this.#end({ steps: this.#reports, value });
      } catch (error) {
        if (error instanceof Left || this.ended) return;
        const failure = error instanceof Failure ? error : new Failure("STEP_REFUSED", Values.errorText(error));
        const { code, message, found: found2, did, words: words2 } = failure;
        if (steps[at] && this.#reports.length === at - from) this.#report(steps[at], did, words2 || message);
        this.#end({
          steps: this.#reports,
          failed: { step: Math.max(0, at), code, message: message.slice(0, 4e3), ...found2.length ? { found: found2.map((one2) => clean(one2, 200)) } : {} }
        });
      }
    }
    #end(result) {
      this.ended = true;
      this.#dialogs.end();
      this.#say({ type: "end", id: this.id, from: this.#begin.from, result });
    }
    #report(step2, did, words2) {
      const report = this.#reportOf(step2, did, words2);
      this.#reports.push(report);
      return report;
    }
    #reportOf(step2, did, words2) {
      return { verb: verbOf(step2), did, words: (words2 + this.#dialogs.words()).slice(0, 4e3), at: location.href.slice(0, 2048) };
    }
    /** Does a step. @returns whether the document gives way to another one */
    async #step(at, step2) {
      const clock = new Clock(step2.timeout || (step2.request || step2.open ? 10 : 5));
      this.#here();
      if (step2.request) {
        await this.#request(at, step2, clock);
        return false;
      }
      if (step2.dialog) {
        this.#dialogs.next(step2.dialog);
        this.#report(step2, "yes", `the page's next question gets ${step2.dialog.accept ? "OK" : "Cancel"}${step2.dialog.text === void 0 ? "" : `, with ${JSON.stringify(clean(step2.dialog.text))}`}`);
        return false;
      }
      if (step2.read || step2.wait || step2.look) {
        this.#report(step2, "yes", step2.look ? await this.#lookAt(step2, step2.look, clock) : await this.#look(step2, clock));
        return false;
      }
      return this.#act(at, step2, clock);
    }
    /** Refuses to go on where the run does not reach. */
    #here() {
      this.#stop.signal.throwIfAborted();
      if (!this.#scope.inMatch(location.href)) {
        throw new Failure("STEP_REFUSED", `the page is at ${clean(location.href, 200)}, ${this.#scope.outside}`);
      }
    }
    async #grant(at, clock) {
      const rest = clock.pause();
      const { signal } = this.#stop;
      await new Promise((go, refused2) => {
        signal.throwIfAborted();
        signal.addEventListener("abort", () => refused2(signal.reason), { once: true });
        this.#asked = { step: at, go, refused: refused2 };
        this.#post({ type: "grant", id: this.id, step: at });
      });
      rest();
      this.#here();
    }
    // ---- Acts
    async #act(at, step2, clock) {
      const declared = step2.open !== void 0 || Boolean(step2.click?.navigates ?? step2.press?.navigates);
      const look2 = (now) => () => {
        this.#here();
        return this.#actOf(at, step2, now, declared);
      };
      await this.#eventually(look2(false), clock);
      await this.#grant(at, clock);
      let watch;
      let report;
      const did = (navigates) => this.#say({ type: "did", id: this.id, step: at, report, values: this.#scope.values, navigates });
      try {
        const departure = await this.#eventually(() => {
          const act2 = look2(true)();
          const leaving = watch = new Departure(this.#scope, this.#begin.trusted === true);
          this.#dialogs.answer();
          if (this.#begin.mark) ring(act2.on.map(({ element }) => element));
          return begun(act2, this.#stop.signal, (words2) => {
            report = this.#report(step2, "yes", words2);
            did(declared);
            return leaving;
          });
        }, clock);
        const { leaves: leaves2, refused: refused2 } = await departure.result();
        const asked = this.#dialogs.words();
        if (asked && report) {
          report.words += asked;
          did(declared || leaves2);
        } else if (leaves2 && !declared) did(true);
        this.#dialogs.check();
        if (refused2) throw new Failure("STEP_REFUSED", `the step led to ${clean(refused2, 200)}, ${this.#scope.outside}: the page was kept from going there`);
        return leaves2 || declared;
      } finally {
        watch?.end();
      }
    }
    #actOf(at, step2, now, declared) {
      const give = (input, done) => this.#give(at, step2, input, done, declared);
      const trusted = this.#begin.trusted ? trustedActOf(step2, this.#scope, now, give) : void 0;
      if (trusted) return trusted;
      if (!step2.open) return actOf(step2, this.#scope, now);
      const address = addressOf(step2.open, this.#scope);
      return {
        on: [],
        do: () => {
          queueMicrotask(() => location.assign(address));
          return `opened ${clean(address, 200)}`;
        }
      };
    }
    /** Has the worker give the page input, once. */
    #give(at, step2, input, words2, navigates) {
      return new Promise((done, failed) => {
        this.#given = { step: at, done, failed };
        const all2 = words2 === void 0 ? void 0 : { report: this.#reportOf(step2, "yes", words2), values: this.#scope.values, navigates };
        this.#post({ type: "input", id: this.id, step: at, input, done: all2 });
      });
    }
    // ---- Reads
    async #look(step2, clock) {
      if (step2.wait) return this.#wait(step2.wait, clock);
      let emptySince;
      const { value, words: words2 } = await this.#eventually(() => {
        this.#here();
        const reading = read(step2.read, this.#scope, this.#begin.none);
        emptySince = reading.empty ? emptySince ?? performance.now() : void 0;
        const young = emptySince !== void 0 && performance.now() - emptySince < EMPTY;
        if (young && !clock.isOver) throw new Failure("STEP_NOT_FOUND", reading.words).later();
        return reading;
      }, clock);
      this.#gave(step2, value);
      return words2;
    }
    /** Looks at this document as clients do. */
    async #lookAt(step2, { target, find, depth }, clock) {
      const references2 = referencesOf(this.#begin.tag);
      const scope = target && await this.#eventually(() => references2.of(one(target, document, this.#scope)), clock);
      const { lines, stale } = await look({ tag: references2.tag, ...scope && { scope } });
      if (stale) throw new Failure("STALE_REF", stale.message, stale.near);
      this.#here();
      const shown2 = show(decode(lines), { depth, find, maxTokens: TOKENS2, scoped: scope !== void 0 });
      this.#gave(step2, shown2.lines.map(({ text }) => text).join("\n"));
      return `looked at ${shown2.lines.length} lines`;
    }
    async #wait({ for: there, gone, url }, clock) {
      const what = there ? `${describe(there, this.#scope)} to be there` : gone ? `${describe(gone, this.#scope)} to be gone` : `the address to be ${clean(url ?? "", 200)}`;
      await this.#eventually(() => {
        this.#here();
        if (url ? matchesAny([url], location.href) : Boolean(gone) !== this.#isThere(there ?? gone)) return;
        throw new Failure("STEP_TIMEOUT", `waited in vain for ${what}`).later();
      }, clock);
      return `waited for ${what}`;
    }
    #isThere(target) {
      try {
        return all(target, document, this.#scope).length > 0;
      } catch (error) {
        if (error instanceof Failure && error.code === "STEP_NOT_FOUND") return false;
        throw error;
      }
    }
    #eventually(look2, clock) {
      return eventually(look2, clock.until, this.#stop.signal);
    }
    #gave(step2, value) {
      const values = { ...this.#scope.values, ...this.#begin.result ? {} : { "": value }, ...step2.as ? { [step2.as]: value } : {} };
      if ((JSON.stringify(values) ?? "").length > MAX_VALUES) throw new Failure("STEP_ANSWER", `the steps gave more than ${MAX_VALUES >> 20} MiB; take or read less`);
      this.#scope.values = values;
    }
    // ---- Requests
    async #request(at, step2, clock) {
      const request = step2.request;
      const acts = isActing(step2);
      const flight = new AbortController();
      const { signal } = this.#stop;
      const stopped = () => flight.abort(signal.reason);
      signal.addEventListener("abort", stopped, { once: true });
      const timed = (ms) => setTimeout(() => flight.abort(new Failure("STEP_TIMEOUT", "the server did not answer in time")), ms);
      let timer = timed(clock.left);
      try {
        const ready = await prepare(request, this.#scope, flight.signal);
        if (acts) {
          clearTimeout(timer);
          await this.#grant(at, clock);
          timer = timed(clock.left);
        } else this.#here();
        const report = (value) => {
          this.#gave(step2, value);
          return this.#report(step2, "yes", ready.words);
        };
        if (!acts) return void report(await send(ready, request, flight.signal));
        try {
          const value = await send(ready, request, flight.signal);
          const did = report(value);
          this.#say({ type: "did", id: this.id, step: at, report: did, values: this.#scope.values, navigates: false });
        } catch (error) {
          const failure = error instanceof Failure || error instanceof Left ? error : new Failure("STEP_ANSWER", Values.errorText(error));
          if (failure instanceof Failure) {
            if (failure.did === "no") failure.did = failure.code === "STEP_ANSWER" ? "yes" : "perhaps";
            failure.words = ready.words;
          }
          throw failure;
        }
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stopped);
      }
    }
  };
  function begun(act2, signal, said) {
    const failed = (error) => {
      if (error instanceof Left) return error;
      const failure = error instanceof Failure ? error : new Failure("STEP_LOST", Values.errorText(error));
      if (failure !== error) failure.did = "perhaps";
      failure.passing = false;
      return failure;
    };
    try {
      const words2 = act2.do(signal);
      if (typeof words2 === "string") return said(words2);
      return words2.then(said, (error) => {
        const failure = failed(error);
        if (failure instanceof Failure && failure.did === "no" && !failure.certain) failure.did = "perhaps";
        throw failure;
      });
    } catch (error) {
      throw failed(error);
    }
  }
  var Clock = class {
    /** As performance.now() has it. */
    until;
    constructor(seconds) {
      this.until = performance.now() + seconds * 1e3;
    }
    get left() {
      return Math.max(0, this.until - performance.now());
    }
    get isOver() {
      return this.left === 0;
    }
    /** @returns what goes on */
    pause() {
      const { left } = this;
      return () => this.until = performance.now() + left;
    }
  };
  var Departure = class {
    #scope;
    #leaves = false;
    /** Whether the document has got another address since it began to leave. */
    #shown = false;
    #wake = () => {
    };
    #refused = "";
    #trusted;
    /** @param trusted what is done in it is as a person's to the browser */
    constructor(scope, trusted) {
      this.#scope = scope;
      this.#trusted = trusted;
      navigation.addEventListener("navigate", this.#navigates);
      navigation.addEventListener("currententrychange", this.#shows);
    }
    #shows = () => {
      this.#shown = true;
    };
    #navigates = (event) => {
      const { destination, downloadRequest, userInitiated, cancelable } = event;
      if (destination.sameDocument || downloadRequest !== null) return;
      const isPerson = !this.#trusted && userInitiated && navigator.userActivation.isActive;
      if (!this.#scope.inMatch(destination.url) && !isPerson && cancelable) {
        event.preventDefault();
        this.#refused = destination.url;
        return this.#wake();
      }
      this.#shown = false;
      setTimeout(() => {
        if (event.defaultPrevented || navigation.transition || this.#shown) return;
        this.#leaves = true;
        this.#wake();
      });
    };
    /** Whether it leaves, as it shows within a moment, or where it was kept from going. */
    async result() {
      if (!this.#leaves && !this.#refused) {
        await new Promise((done) => {
          this.#wake = done;
          setTimeout(done, LEAVING);
        });
      }
      return { leaves: this.#leaves, refused: this.#refused };
    }
    end() {
      navigation.removeEventListener("navigate", this.#navigates);
      navigation.removeEventListener("currententrychange", this.#shows);
    }
  };

  // content/steps/runner.ts
  var Runner = class {
    document = document;
    #port;
    #runs = /* @__PURE__ */ new Map();
    #opened = 0;
    #retry = 100;
    constructor() {
      watchPasswords(document);
      addEventListener("pagehide", () => {
        for (const run of this.#runs.values()) run.leave();
        this.#runs.clear();
        this.#disconnect();
      });
      this.connect();
    }
    /** Opens the port, unless it is open. */
    connect() {
      if (this.#port || !chrome.runtime?.id) return;
      let port;
      try {
        port = chrome.runtime.connect({ name: "run" });
      } catch {
        return;
      }
      this.#port = port;
      this.#opened = Date.now();
      port.onMessage.addListener((message) => this.#received(message));
      port.onDisconnect.addListener(() => {
        void chrome.runtime?.lastError;
        if (this.#port !== port) return;
        this.#port = void 0;
        this.#retry = Date.now() - this.#opened > 1e3 ? 0 : Math.min(this.#retry * 2 + 100, 5e3);
        if (this.#runs.size) setTimeout(() => this.connect(), this.#retry);
      });
      port.postMessage({ type: "hello", runs: [...this.#runs.keys()] });
      for (const run of this.#runs.values()) run.again();
    }
    #disconnect() {
      const port = this.#port;
      this.#port = void 0;
      port?.disconnect();
    }
    #post(message) {
      try {
        this.#port?.postMessage(message);
      } catch {
      }
    }
    #received(message) {
      const run = this.#runs.get(message.id);
      switch (message.type) {
        case "run":
          if (run && !run.ended) return;
          this.#runs.set(message.id, new Run(message, (out) => this.#post(out)));
          break;
        case "go":
          run?.go(message.step);
          break;
        case "refused":
          run?.refused(message.step, message.code, message.reason);
          break;
        case "input":
          run?.input(message.step, message.error);
          break;
        case "stop":
          if (run?.ended) this.#runs.delete(message.id);
          else run?.stop(message.reason);
      }
    }
  };

  // content/steps.ts
  {
    const before = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : void 0;
    if (before?.document === document) before.connect();
    else {
      const runner = new Runner();
      globalThis.tabhubSteps = {
        document,
        connect: () => runner.connect(),
        look,
        refs: resolve,
        show: show2,
        number
      };
    }
  }
})();
/*! jmespath 0.16.0: Copyright 2014 James Saryerwinnie, Apache License, Version 2.0, https://www.apache.org/licenses/LICENSE-2.0 */
