using System;  //? import System *
using static Example.Tools;  //? import Example.Tools *
using Key = Example.Far.Key;  //? import Example.Far Key as Key
global using Example.Everywhere;  //? import Example.Everywhere * exported

namespace Example.Shapes
{
    /// <summary>A shape.</summary>
    [Serializable]  //? decorator Serializable
    public sealed partial class Shape<T> : Base<T>, IDrawable where T : new()  //? class Shape sealed partial bases=Base,IDrawable doc="A shape."; inherit Base; inherit IDrawable
    {
        private readonly int size = Compute(3), other;  //? field Shape.size private readonly; field Shape.other private readonly; call Compute
        public const int Limit = 10;  //? constant Shape.Limit const
        public event EventHandler Changed;  //? field Shape.Changed; type EventHandler
        public int Area { get; private set; } = 2;  //? field Shape.Area
        int Twice => Area * 2;  //? field Shape.Twice private; read Area

        public Shape(int size, Point origin) : base(size)  //? constructor Shape.Shape; type Point
        {
            this.size = size;  //? write size on this
        }

        public override async Task<List<T>> Draw<K>(K on, params string[] rest)  //? method Shape.Draw override async; type Task; type List
        {
            var local = on.Measure<int>(size);  //? call Measure on on; read size
            foreach (var side in local.Sides)  //? read Sides on local
            {
                if (side is Circle circle && circle.Radius > Limit) throw new ArgumentException(nameof(on));  //? type Circle; read Radius on circle; read Limit; call ArgumentException
            }
            int Inner(int x) => Helper(x);  //? function Shape.Draw.Inner private; call Helper
            return new Shape<K>(local) { Area = 3 }.sides.Where(item => item.Ok).ToList();  //? call Shape; write Area; read sides on {}; call Where on {}.sides; read Ok on item; call ToList on {}.sides.Where()
        }

        class Nested { }  //? class Shape.Nested private
    }

    public interface IDrawable : IDisposable  //? interface IDrawable bases=IDisposable; inherit IDisposable
    {
        void Draw();  //? method IDrawable.Draw
    }

    public record Pair(int Left, Key Right);  //? record Pair; field Pair.Left; field Pair.Right; type Key

    internal enum Color { Red, Green = 2 }  //? enum Color internal; constant Color.Red; constant Color.Green

    public struct Point { public int X; }  //? struct Point; field Point.X

    public delegate void Handler(Shape<int> shape);  //? type Handler; type Shape

    public class ShapeTests  //? class ShapeTests
    {
        [Fact]  //? decorator Fact
        public void HasArea() => Assert.Equal(1, new Point().X);  //? method ShapeTests.HasArea test; read Assert; call Equal on Assert; call Point; read X on Point()
    }
}
